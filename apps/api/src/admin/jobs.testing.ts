import type { JobRecord, Store, StoredRequest } from '@svc/store';
import { plainRequest } from '@svc/testing';

export interface GivenJob {
  tenant?: string;
  topic?: string;
  prompt?: string;
  request?: Partial<StoredRequest>;
  fields?: Partial<JobRecord>;
}

/** Jobs in each queue, written as the services write them. */
export const givenJobs = (store: Store) => {
  const accept = async (id: string, given: GivenJob = {}, next?: Parameters<Store['jobs']['accept']>[0]['next']) => {
    const { tenant = 'acme', topic = 'job.default', prompt = 'Say hello', fields = {} } = given;
    const outcome = await store.jobs.accept({
      id,
      tenant,
      traceId: `trace-of-${id}`,
      topic,
      fields: { request: { ...plainRequest, topic, ...given.request }, submitter: 's', job_hash: 'h', ...fields },
      context: JSON.stringify({ prompt, topic }),
      priority: 10,
      activeLimit: 0,
      ...(next && { next }),
    });
    if (outcome.kind !== 'accepted') throw new Error(`not accepted: ${outcome.kind}`);
    return id;
  };
  const admit = async (id: string, worker?: { id: string; pool: string; max: number }) => {
    const outcome = await store.jobs.admit(id, {
      // A separate lane, since a job is dispatched only if no other job is ahead of it.
      lane: { id: `lane-of-${id}`, spec: '{}', level: 2 },
      ...(worker && { worker }),
      dispatchId: 'd1',
      reason: 'no_workers',
      runMs: 600_000,
      deadlineMs: 0,
      tenantCap: 0,
      licenseCap: 0,
      waitMs: 600_000,
      set: {},
      decision: {
        decision: 'ALLOW',
        reason: 'nothing against it',
        rule_id: 'rule-allow',
        checked_at: 1_700_000_000_000_000,
        source: 'scheduler',
      },
    });
    if (outcome.kind !== 'waiting' && outcome.kind !== 'dispatched') throw new Error(`not admitted: ${outcome.kind}`);
    return id;
  };
  return {
    toDecide: accept,
    async waiting(id: string, given?: GivenJob) {
      return admit(await accept(id, given));
    },
    async inFlight(id: string, given?: GivenJob) {
      return admit(await accept(id, given), { id: 'worker-7', pool: 'default', max: 4 });
    },
    held: (id: string, given?: GivenJob) =>
      accept(id, given, {
        event: 'hold',
        extras: {
          park: { queue: 'jobApprovals', forMs: 600_000 },
          set: { approval: { status: 'pending', revision: 1, reason: 'a person must decide' } },
        },
      }),
    async failed(id: string, { reason = 'the worker gave up', ...given }: GivenJob & { reason?: string } = {}) {
      const { tenant = 'acme', topic = 'job.default' } = given;
      await admit(await accept(id, given), { id: 'worker-7', pool: 'default', max: 4 });
      const letter = { job_id: id, tenant, topic, reason, status: 'JOB_STATUS_FAILED', created_at: '2026-01-01T00:00:00Z' };
      await store.jobs.move('*', id, 'fail', {
        set: { error_code: 'worker_error', error_message: reason, last_state: 'DISPATCHED' },
        deadLetter: { body: JSON.stringify(letter), ttl_sec: 600, topic, reason: `worker_error: ${reason}` },
      });
      return id;
    },
  };
}; // prettier-ignore
