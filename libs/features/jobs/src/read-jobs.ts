import {
  AppError,
  type Caller,
  contextPointer,
  type DecisionView,
  isOwnResult,
  type JobDetail,
  type JobItem,
  limits,
  type ListQuery,
  type ListView,
  type TenantScope,
} from '@svc/contract';
import { JsonText } from '@svc/http';
import { isJobState, isTerminal, type JobState } from '@svc/lifecycle';
import { applyEnding, type JobEnding, type JobEndings, type JobRecord, type Store } from '@svc/store';
import { jobDetailText, type ShownAgent, toJobItem } from './job-views';
import type { RecentJob, RecentJobs } from './recent-jobs';
import { isWithheld, markOutputRead } from './withheld';

/** @throws job_not_found, tenant_access_denied */
export async function findJob({ store }: { store: Store }, scope: TenantScope, id: string): Promise<JobRecord> {
  return requireFound(await store.jobs.get(scope, id)).job;
}

function requireFound<T>(outcome: ({ kind: 'found' } & T) | { kind: 'missing' } | { kind: 'other_tenant' }): T {
  switch (outcome.kind) {
    case 'missing':
      throw new AppError('job_not_found');
    case 'other_tenant':
      throw new AppError('tenant_access_denied');
    case 'found':
      return outcome;
  }
}

/** See docs/reference/jobs.md#read-jobs. */
export async function getJob(deps: { store: Store }, scope: TenantScope, id: string): Promise<JsonText<JobDetail>> {
  return readDetail(deps.store, await findJob(deps, scope, id));
}

/** What the caller has of the job's input and result already. */
interface KnownBodies {
  input?: string | undefined;
  result?: string | undefined;
}

async function readDetail(
  store: Store,
  job: JobRecord,
  { input, result }: KnownBodies = {},
): Promise<JsonText<JobDetail>> {
  // While the output is withheld, its details show none of it.
  if (!isWithheld(job)) markOutputRead(job);
  const [context, body, agent] = await Promise.all([
    input ?? readContext(store, job),
    result ?? readResult(store, job),
    readAgent(store, job),
  ]);
  return new JsonText(jobDetailText(job, context, body, agent));
}

/** Costs a read only for jobs of agents. */
async function readAgent({ agents }: Store, { tenant, request }: JobRecord): Promise<ShownAgent | undefined> {
  const record = request.agent_id ? await agents.get(request.agent_id) : undefined;
  return record?.tenant === tenant ? record.agent : undefined;
}

export interface WaitDeps {
  store: Store;
  endings: Pick<JobEndings, 'wait'>;
  recent: Pick<RecentJobs, 'find'>;
}

/**
 * The same once the job has ended, or its current state after `forMs`.
 *
 * @throws job_not_found, tenant_access_denied
 */
export async function awaitJob(
  deps: WaitDeps,
  scope: TenantScope,
  id: string,
  forMs: number,
): Promise<JsonText<JobDetail>> {
  if (forMs === 0) return getJob(deps, scope, id);
  const recent = deps.recent.find(id);
  if (recent?.ending) return readEnded(deps.store, requireScope(recent.record, scope), recent.ending, recent.input);
  const untilMs = performance.now() + forMs;
  let found = await awaitEnd(deps, scope, id, forMs, recent);
  // Ends may have been missed while the subscription was interrupted.
  while (found === 'gap') found = await awaitEnd(deps, scope, id, Math.max(0, untilMs - performance.now()));
  return found;
}

/** @param recent the job, if this process has it; else it is read */
async function awaitEnd(
  deps: WaitDeps,
  scope: TenantScope,
  id: string,
  forMs: number,
  recent?: RecentJob,
): Promise<JsonText<JobDetail> | 'gap'> {
  // Subscribes before the read, so that an end in between is not missed.
  const { ended, cancel } = deps.endings.wait(id, forMs);
  try {
    const job = recent ? requireScope(recent.record, scope) : await findJob(deps, scope, id);
    if (isTerminal(job.state)) return await readDetail(deps.store, job);
    // An end that is announced without details is read.
    void deps.store.jobs.announceWait().catch(() => undefined);
    const ending = await ended;
    if (ending === 'gap') return ending;
    return await (ending ? readEnded(deps.store, job, ending, recent?.input) : getJob(deps, scope, id));
  } finally {
    cancel();
  }
}

/** @param job as it was at any time before its end */
const readEnded = (store: Store, job: JobRecord, ending: JobEnding, input?: string): Promise<JsonText<JobDetail>> =>
  readDetail(store, applyEnding(job, ending), { input, result: ending.body });

/** @throws tenant_access_denied */
function requireScope(job: JobRecord, scope: TenantScope): JobRecord {
  if (scope !== '*' && job.tenant !== scope) throw new AppError('tenant_access_denied');
  return job;
}

/** The input document, for readers. One that is the result of another job is shown or withheld with that job. */
export async function readContext({ data }: Pick<Store, 'data'>, job: JobRecord): Promise<Buffer | null> {
  const pointer = contextPointer(job);
  return pointer.startsWith('redis://ctx:') ? data.context(pointer, limits.contextBytes) : null;
}

const inlineResultBytes = 1_048_576;

/** Follows pointers into our own store; others are returned unchanged. See docs/reference/worker-protocol.md#pointers. */
async function readResult(store: Store, job: JobRecord): Promise<Buffer | null> {
  if (isWithheld(job) || !job.result_ptr || !isOwnResult(job.id, job.result_ptr)) return null;
  const found = await store.data.read(job.result_ptr, inlineResultBytes);
  return found && found.sizeBytes <= inlineResultBytes ? found.body : null;
}

/** @throws tenant_access_denied */
export async function listJobs(
  { store }: { store: Store },
  caller: Caller,
  query: ListQuery,
): Promise<ListView<JobItem>> {
  if (query.tenant && query.tenant !== caller.tenant) throw new AppError('tenant_access_denied');
  const states = parseStates(query.state);
  if (states?.length === 0) return { items: [], next_cursor: null };
  const page = await store.index.page(
    caller.tenant,
    {
      ...(states && { states }),
      ...(query.topic && { topic: query.topic }),
      ...(query.team && { team: query.team }),
      ...(query.trace_id && { traceId: query.trace_id }),
      ...(query.updated_after && { afterUs: query.updated_after }),
      ...(query.updated_before && { beforeUs: query.updated_before }),
    },
    query.limit,
    query.cursor,
  );
  return { items: page.items.map(toJobItem), next_cursor: page.nextCursorUs };
}

/** The states that match a filter: undefined = all, none for an unknown word. APPROVAL is an alias. */
function parseStates(filter: string | undefined): JobState[] | undefined {
  if (!filter) return undefined;
  const name = filter.toUpperCase();
  const state = name === 'APPROVAL' ? 'APPROVAL_REQUIRED' : name;
  return isJobState(state) ? [state] : [];
}

/** Newest first; an unknown job has none. See docs/reference/policy.md#decisions. */
export async function jobDecisions(
  { store }: { store: Store },
  scope: TenantScope,
  id: string,
  limit: number,
): Promise<DecisionView[]> {
  const found = await store.jobs.get(scope, id);
  if (found.kind === 'missing') return [];
  if (found.kind === 'other_tenant') throw new AppError('tenant_access_denied');
  const records = await store.jobs.decisions(id, limit);
  return records.map(({ remediations, ...rest }) => ({
    ...rest,
    ...(remediations && { remediations: remediations.map((entry) => ({ ...entry })) }),
  }));
}

/** Jobs of a trace that the tenant may see, oldest first. */
export async function getTrace({ store }: { store: Store }, tenant: string, traceId: string): Promise<JobItem[]> {
  return (await store.index.byTrace(tenant, traceId)).map(toJobItem);
}
