import { defaultShard } from '@svc/queues';
import { queues } from '@svc/queues.config';
import { useServers } from '@svc/testing';
import { Redis } from 'ioredis';
import { openStore, shardAccessRules, type Store } from './index';

export interface StoreOptions {
  /** Default: the first shard. */
  shard?: string;
}

const retention = { metaSec: 3_600, dataSec: 600 };

/**
 * Opens a store as a Redis user that may access one shard only, so that a test fails on a call that touches another. The user
 * has the rules that an operator would give to the services of the shard.
 */
export async function openShard(redis: Redis, redisUrl: string, shard: string): Promise<Store> {
  const user = `shard-${shard}`;
  await redis.acl('SETUSER', user, 'reset', 'on', 'nopass', '+@all', ...shardAccessRules(shard));
  return openStore(new Redis(redisUrl, { username: user, password: 'any' }), queues, retention, shard);
}

/** A store on a Redis of this file's own, empty before each test. */
export function useRedisStore({ shard = defaultShard }: StoreOptions = {}) {
  let redis: Redis | undefined;
  let store: Store | undefined;
  // Registered before the hooks of the servers, which run in that order: a client that outlives its server reconnects.
  afterAll(async () => void (await Promise.all([redis?.quit(), store?.redis.quit()])));
  const servers = useServers();
  beforeAll(async () => {
    redis = new Redis(servers.redisUrl);
    store = await openShard(redis, servers.redisUrl, shard);
  });
  const opened = <T>(value: T | undefined): T => {
    if (!value) throw new Error('the store is open only inside hooks and tests');
    return value;
  };
  return {
    /** Its connection can access only its shard. */
    get store() {
      return opened(store);
    },
    /** A connection with all permissions, for preparing and checking. */
    get redis() {
      return opened(redis);
    },
    get redisUrl() {
      return servers.redisUrl;
    },
  };
}
