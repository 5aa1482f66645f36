import { plainRequest } from '@svc/testing';
import type { Redis } from 'ioredis';
import type { DispatchPlan, JobRecord, Store } from './index';
import { useRedisStore, type StoreOptions } from './redis-store.testing';

export interface UsedStore {
  /** Its connection can access only its shard. */
  readonly store: Store;
  /** A connection with all permissions. */
  readonly redis: Redis;
  readonly redisUrl: string;
  /** Accepts a job with default fields. */
  accept(id: string, over?: { tenant?: string; topic?: string; fields?: Partial<JobRecord> }): Promise<void>;
}

/** A job without a worker that waits in the lane `job.default` at the level interactive. */
export const waitingPlan: DispatchPlan = {
  lane: { id: 'job.default', spec: '{}', level: 2 },
  dispatchId: 'd1',
  reason: 'no_workers',
  runMs: 60_000,
  deadlineMs: 0,
  tenantCap: 0,
  licenseCap: 0,
  waitMs: 60_000,
};

/** A store on a dedicated Redis, empty before each test. */
export function useStore(options: StoreOptions = {}): UsedStore {
  const use = useRedisStore(options);
  return {
    get store() {
      return use.store;
    },
    get redis() {
      return use.redis;
    },
    get redisUrl() {
      return use.redisUrl;
    },
    async accept(id, { tenant = 'acme', topic = 'job.default', fields = {} } = {}) {
      const outcome = await use.store.jobs.accept({
        id,
        tenant,
        traceId: `trace-${id}`,
        topic,
        fields: {
          request: plainRequest,
          submitter: 'apikey:1|principal:ann',
          job_hash: 'h',
          deadline_ms: 0,
          ...fields,
        },
        context: '{"prompt":"hi"}',
        priority: 10,
        activeLimit: 0,
      });
      if (outcome.kind !== 'accepted') throw new Error(`not accepted: ${outcome.kind}`);
    },
  };
}
