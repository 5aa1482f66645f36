import { AppError, type Caller, type DeadLetterPageView, type DeadLetterView } from '@svc/contract';
import type { DeadLetterPosition, Store } from '@svc/store';
import { joinIdentities } from '@svc/identity';
import { carriedLabels, resubmit, type ResubmitDeps } from '../resubmit';
import { confirmQuarantine, type QuarantineDeps } from './settle-quarantine';

/** Newest first. See docs/reference/jobs.md#dead-letters. */
export async function listDeadLetters(
  { store }: { store: Store },
  tenant: string,
  limit: number,
): Promise<DeadLetterView[]> {
  return (await store.deadLetters.page(tenant, limit)).items;
}

/**
 * The same page by page. Cursors are unix seconds, which a page may be cut within; the tiebreaker says where exactly, and
 * wins over the cursor. Without it the next page begins at the end of that second, so that letters may repeat and none is
 * skipped, unless one second holds more letters than a page.
 */
export async function pageDeadLetters(
  { store }: { store: Pick<Store, 'deadLetters'> },
  tenant: string,
  { limit, cursor: cursorUs, tiebreaker = '' }: { limit: number; cursor?: number; tiebreaker?: string },
): Promise<DeadLetterPageView> {
  const after = positionIn(tiebreaker);
  const { items, more } = await store.deadLetters.page(tenant, limit, after ?? cursorUs);
  if (!more) return { items, next_cursor: null };
  const second = secondOf(more.last.atUs);
  const isCutWithin = secondOf(more.next.atUs) === second;
  // A caller that sends no tiebreaker would get a page that lies within one second again and again.
  const isStuck = !after && cursorUs !== undefined && secondOf(cursorUs) === second;
  return {
    items,
    next_cursor: isCutWithin && !isStuck ? second : second - 1,
    next_tiebreaker: tiebreakerOf(more.last),
  };
}

const secondOf = (us: number): number => Math.floor(us / 1e6);

const tiebreakerOf = ({ atUs, id }: DeadLetterPosition): string => Buffer.from(`${atUs}:${id}`).toString('base64url');

/** Undefined for what is no tiebreaker: as with a bad cursor, it is ignored. */
function positionIn(tiebreaker: string): DeadLetterPosition | undefined {
  const [, at, id] = /^(\d{1,16}):(.+)$/s.exec(Buffer.from(tiebreaker, 'base64url').toString()) ?? [];
  return at !== undefined && id !== undefined ? { atUs: Number(at), id } : undefined;
}

/**
 * Removes a dead letter; one that is not there is as good as removed. For a quarantined output this confirms the
 * quarantine: nobody can release it any more.
 *
 * @throws tenant_access_denied
 */
export async function removeDeadLetter(deps: QuarantineDeps, caller: Caller, id: string): Promise<void> {
  const { store } = deps;
  const letter = await store.deadLetters.get(caller.scope, id);
  if (letter === undefined) return;
  if (letter === 'other_tenant') throw new AppError('tenant_access_denied');
  if (!(await confirmQuarantine(deps, caller, id))) await store.deadLetters.remove(letter.tenant, id);
}

/**
 * Runs a dead letter again as a new job, decided afresh by policy; the old job keeps its end, and what it returned stays
 * withheld.
 *
 * @returns the new job's id
 * @throws dlq_entry_not_found, tenant_access_denied, missing_topic_for_retry
 */
export async function retryDeadLetter(deps: ResubmitDeps, caller: Caller, id: string): Promise<string> {
  const letter = await deps.store.deadLetters.get(caller.scope, id);
  if (letter === undefined) throw new AppError('dlq_entry_not_found');
  if (letter === 'other_tenant') throw new AppError('tenant_access_denied');
  const original = await deps.store.jobs.load(id);
  if (!original) throw new AppError(letter.topic ? 'dlq_entry_not_found' : 'missing_topic_for_retry');
  const { idempotency_key: _, ...request } = original.request;
  const jobId = await resubmit(deps, original, {
    id: `${id}-retry-${deps.random.hex(4)}`,
    traceId: `dlq-retry-${id}`,
    tenant: original.tenant,
    request: {
      ...request,
      labels: { ...carriedLabels(request.labels), retry: 'true', dlq_entry: id, retry_of_job: id },
      env: { ...request.env, retry_of_job: id },
    },
    // The content is still the first submitter's.
    submitter: joinIdentities(caller.submitterId, original.submitter, original.author),
    deadlineMs: request.deadline_ms > 0 ? deps.clock.nowMs() + request.deadline_ms : 0,
    once: `dlq-retry:${id}:${letter.created_at}`,
  });
  // If we die here the entry stays and the new job runs; asked again, or by many at once, it is the same new job.
  await deps.store.deadLetters.remove(letter.tenant, id);
  return jobId;
}
