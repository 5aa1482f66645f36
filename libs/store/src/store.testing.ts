import { queues } from '@svc/queues.config';
import { plainRequest, useServers } from '@svc/testing';
import { Redis } from 'ioredis';
import { openStore, type JobRecord, type Store } from './index';

export interface UsedStore {
  readonly store: Store;
  readonly redis: Redis;
  readonly redisUrl: string;
  /** Accepts a job with default fields. */
  accept(id: string, over?: { tenant?: string; topic?: string; fields?: Partial<JobRecord> }): Promise<void>;
}

/** A store on a dedicated Redis, empty before each test. */
export function useStore(): UsedStore {
  let redis: Redis | undefined;
  let store: Store | undefined;
  // Before the servers' own hook: hooks run in the order they are registered, and a client outliving its server reconnects.
  afterAll(async () => void (await redis?.quit()));
  const servers = useServers();
  beforeAll(() => {
    redis = new Redis(servers.redisUrl);
    store = openStore(redis, queues, { metaSec: 3_600, dataSec: 600 });
  });
  const opened = <T>(value: T | undefined): T => {
    if (!value) throw new Error('the store is open only inside hooks and tests');
    return value;
  };
  return {
    get store() {
      return opened(store);
    },
    get redis() {
      return opened(redis);
    },
    get redisUrl() {
      return servers.redisUrl;
    },
    async accept(id, { tenant = 'acme', topic = 'job.default', fields = {} } = {}) {
      const outcome = await opened(store).jobs.accept({
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
