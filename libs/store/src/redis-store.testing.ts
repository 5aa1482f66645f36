import { queues } from '@svc/queues.config';
import { useServers } from '@svc/testing';
import { Redis } from 'ioredis';
import { openStore, type Store } from './index';

/** A store on a Redis of this file's own, empty before each test. */
export function useRedisStore() {
  let redis: Redis | undefined;
  let store: Store | undefined;
  // Registered before the hooks of the servers, which run in that order: a client that outlives its server reconnects.
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
  };
}
