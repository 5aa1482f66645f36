import type { Kernel } from '@svc/kernel-client';
import type { JobEvent, JobState } from '@svc/lifecycle';
import { requestHash } from '@svc/decision';
import type { ApprovalRecord, DecisionRecord, JobRecord, MoveExtras, Store, StoredRequest } from '@svc/store';
import { plainRequest } from '@svc/testing';
import { randomUUID } from 'node:crypto';

export interface GivenJob {
  state?: JobState;
  id?: string;
  tenant?: string;
  topic?: string;
  traceId?: string;
  prompt?: string;
  context?: unknown;
  labels?: Readonly<Record<string, string>>;
  request?: Partial<StoredRequest>;
  safety?: Partial<DecisionRecord>;
  /** Additional approval fields of a held job. */
  approval?: Partial<ApprovalRecord>;
  submitter?: string;
  /** Result of the worker. */
  result?: unknown;
  workerId?: string;
  /** Error of a job that did not succeed. */
  error?: string;
  fields?: Partial<JobRecord>;
}

export interface GivenJobs {
  /** Creates a job in a state, by the product's own transitions; returns its id. */
  job(given?: GivenJob): Promise<string>;
  /** Creates `count` jobs of one kind, oldest first. */
  jobs(count: number, given?: GivenJob): Promise<string[]>;
}

/** A submitter that is not a caller of the tests. */
export const stranger = 'apikey:0123456789abcdef|principal:zed';

/** Transitions of an accepted job, by its final state. */
const ways: Record<Exclude<JobState, 'PENDING' | 'APPROVAL_REQUIRED' | 'DENIED'>, readonly JobEvent[]> = {
  SCHEDULED: ['dispatch', 'rollBack'],
  DISPATCHED: ['dispatch'],
  RUNNING: ['dispatch', 'start'],
  RETRYING: ['dispatch', 'retry'],
  SUCCEEDED: ['dispatch', 'start', 'succeed'],
  FAILED: ['dispatch', 'fail'],
  TIMEOUT: ['timeOut'],
  CANCELLED: ['cancel'],
  OUTPUT_QUARANTINED: ['dispatch', 'succeed', 'quarantine'],
};

const badEnds: Partial<Record<JobEvent, { code: string; message: string; status: string }>> = {
  fail: { code: 'worker_error', message: 'the worker gave up', status: 'JOB_STATUS_FAILED' },
  deny: { code: 'policy_denied', message: 'not here', status: 'JOB_STATUS_DENIED' },
  timeOut: { code: 'timeout', message: 'took too long', status: 'JOB_STATUS_TIMEOUT' },
  quarantine: { code: 'output_quarantined', message: 'output_quarantined', status: 'JOB_STATUS_DENIED' },
};

export function givenJobs(store: Store, kernel: Kernel): GivenJobs {
  const job = async (given: GivenJob = {}): Promise<string> => {
    const { id = randomUUID(), state = 'PENDING', tenant = 'acme', topic = 'job.default' } = given;
    const request = buildRequest(topic, given);
    const [snapshot = ''] = await kernel.listSnapshots();
    const job_hash = requestHash({ id, tenant, topic, request });
    const held = state === 'APPROVAL_REQUIRED';
    const safety: DecisionRecord = {
      decision: held ? 'REQUIRE_APPROVAL' : state === 'DENIED' ? 'DENY' : 'ALLOW',
      policy_snapshot: snapshot,
      job_hash,
      checked_at: Date.now() * 1_000,
      source: 'gateway',
      ...(held && { approval_required: true, approval_ref: id }),
      ...given.safety,
    };
    const next = held
      ? ({ event: 'hold', extras: holdExtras({ policy_snapshot: snapshot, job_hash, ...given.approval }) } as const)
      : state === 'DENIED'
        ? ({ event: 'deny', extras: endExtras({ id, tenant, topic }, 'deny', 'PENDING') } as const)
        : undefined;
    const outcome = await store.jobs.accept({
      id,
      tenant,
      traceId: given.traceId ?? `trace-of-${id}`,
      topic,
      fields: { request, submitter: given.submitter ?? stranger, job_hash, deadline_ms: 0, safety, ...given.fields },
      context: JSON.stringify({ prompt: given.prompt ?? 'say hello', topic, ...(given.context !== undefined && { context: given.context }) }),
      decision: safety,
      priority: 10,
      activeLimit: 0,
      ...(next && { next }),
    });
    if (outcome.kind !== 'accepted') throw new Error(`not accepted: ${outcome.kind}`);
    if (state === 'PENDING' || state === 'APPROVAL_REQUIRED' || state === 'DENIED') return id;
    for (const event of ways[state]) await step(store, { id, tenant, topic }, event, given);
    return id;
  };
  return {
    job,
    async jobs(count, given) {
      const ids: string[] = [];
      for (let i = 0; i < count; i++) ids.push(await job(given));
      return ids;
    },
  };
} // prettier-ignore

type Named = Pick<JobRecord, 'id' | 'tenant' | 'topic'>;

async function step(store: Store, job: Named, event: JobEvent, given: GivenJob): Promise<void> {
  if (event === 'dispatch') return dispatch(store, job.id, given.workerId ?? 'worker-7');
  const extras =
    event === 'succeed' ? await storeResult(store, job.id, given) : endExtras(job, event, 'RUNNING', given.error);
  const outcome = await store.jobs.move('*', job.id, event, extras);
  if (outcome.kind !== 'moved') throw new Error(`${event}: ${outcome.kind}`);
}

async function dispatch(store: Store, id: string, workerId: string): Promise<void> {
  const outcome = await store.jobs.admit(id, {
    lane: { id: `lane-of-${id}`, spec: '{}', level: 2 },
    worker: { id: workerId, pool: 'demo', max: 0 },
    dispatchId: `d-${id}`,
    reason: 'no_workers',
    runMs: 600_000,
    deadlineMs: 0,
    tenantCap: 0,
    licenseCap: 0,
    waitMs: 600_000,
    set: {},
  });
  if (outcome.kind !== 'dispatched') throw new Error(`not dispatched: ${outcome.kind}`);
}

async function storeResult(store: Store, id: string, { result = { answer: 42 } }: GivenJob): Promise<MoveExtras> {
  await store.redis.set(`res:${id}`, JSON.stringify(result));
  return { set: { result_ptr: `redis://res:${id}` } };
}

const holdExtras = (approval: Partial<ApprovalRecord>): MoveExtras => ({
  set: { approval: { status: 'pending', revision: 1, ...approval } },
  park: { queue: 'jobApprovals', forMs: 600_000 },
});

function endExtras({ id, tenant, topic }: Named, event: JobEvent, last_state: JobState, error?: string): MoveExtras {
  const end = badEnds[event];
  if (!end) return {};
  const { code, message, status } = { ...end, ...(error !== undefined && { message: error }) };
  const entry = { job_id: id, topic, tenant, status, reason: message, reason_code: code, last_state, attempts: 1 };
  return {
    set: {
      error_code: code,
      error_message: message,
      error_status: status,
      last_state,
    },
    deadLetter: {
      body: JSON.stringify({ ...entry, created_at: new Date().toISOString() }),
      ttl_sec: 600,
      topic,
      reason: `${code}: ${message}`,
    },
  };
}

const buildRequest = (topic: string, { labels = {}, request = {} }: GivenJob): StoredRequest => ({
  ...plainRequest,
  topic,
  labels: { ...labels },
  principal_id: 'zed',
  actor_id: 'zed',
  ...request,
});
