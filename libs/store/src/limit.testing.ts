import { plainRequest } from '@svc/testing';
import type { AcceptOutcome, JobLimits, Placement } from './index';
import { type UsedStore, waitingPlan } from './store.testing';

/** Jobs with limits by key, in a store of a test. */
export interface LimitedJobs {
  submit(id: string, limits: JobLimits, over?: { tenant?: string; place?: Partial<Placement> }): Promise<AcceptOutcome>;
  /** Accepts a job that the scheduler still has to decide. */
  enqueue(id: string, limits: JobLimits): Promise<AcceptOutcome>;
  admit(id: string): Promise<unknown>;
  /** Dispatches waiting jobs to a worker with this many slots. */
  claim(max?: number): Promise<string[]>;
  /** State, waiting reason, whether it is in its lane. */
  position(id: string): Promise<{ state: string; blocked: string | undefined; lane: string }>;
}

export function limitedJobs(use: UsedStore): LimitedJobs {
  let claims = 0;
  const accept = (id: string, limits: JobLimits, tenant: string, place?: Placement) =>
    use.store.jobs.accept({
      id,
      tenant,
      traceId: id,
      topic: 'job.default',
      fields: {
        request: { ...plainRequest, limits },
        submitter: 'ann',
        job_hash: 'h',
        deadline_ms: 0,
        safety_snapshot: 's1',
      },
      context: '{}',
      priority: 10,
      activeLimit: 0,
      ...(place && { place }),
    });
  return {
    async submit(id, limits, { tenant = 'acme', place } = {}) {
      await use.redis.set(use.store.keys.policyInEffect(), 's1');
      return accept(id, limits, tenant, { snapshot: 's1', ...waitingPlan, otherLanes: [], mayWait: true, ...place });
    },
    enqueue: (id, limits) => accept(id, limits, 'acme'),
    admit: (id) => use.store.jobs.admit(id, { ...waitingPlan, set: {} }),
    async claim(max = 100) {
      const { jobs } = await use.store.jobs.claim({
        worker: { id: 'w1', pool: 'p', max },
        lanes: [waitingPlan.lane.id],
        dispatchIds: Array.from({ length: max }, () => `d${++claims}`),
        licenseCap: 0,
        snapshot: 's1',
      });
      return jobs.map(({ id }) => id);
    },
    async position(id) {
      const job = await use.store.jobs.load(id);
      return { state: job?.state ?? 'missing', blocked: job?.blocked?.by, lane: job?.lane ?? '' };
    },
  };
}
