import { useServers } from '@svc/testing';
import { Redis } from 'ioredis';
import { ReadsOfAll } from './reads-of-all';

describe('reads of everything under a key', () => {
  const servers = useServers();
  let redis: Redis;
  beforeEach(async () => {
    redis = new Redis(servers.redisUrl);
    const many = Array.from({ length: 2_000 }, (_, i) => `m${i}`);
    await redis.sadd('many', ...many);
    await redis.sadd('few', 'one', 'two');
    await redis.zadd('sorted', ...many.flatMap((member, i) => [i, member]));
    await redis.rpush('list', ...many);
  });
  afterEach(() => redis.disconnect());

  /** What was found in the given commands. */
  async function found(act: () => Promise<unknown>): Promise<string[]> {
    const reads = await ReadsOfAll.watch(servers.redisUrl);
    await act();
    return reads.end();
  }

  it.each<[string, () => Promise<unknown>]>([
    ['keys * (Infinity)', () => redis.keys('*')],
    ['smembers many (2000)', () => redis.smembers('many')],
    ['zrange sorted (2000)', () => redis.zrange('sorted', 0, '-1')],
    ['zrangebyscore sorted (2000)', () => redis.zrangebyscore('sorted', '-inf', '+inf')],
    ['lrange list (2000)', () => redis.lrange('list', 0, '-1')],
    ['smembers many (2000)', () => redis.eval("return redis.call('SMEMBERS', KEYS[1])", 1, 'many')],
  ])('are found: %s', async (expected, act) => {
    expect(await found(act)).toEqual([expected]);
  });

  it('are not those of little, nor of a part', async () => {
    const act = async () => {
      await redis.smembers('few');
      await redis.zrange('sorted', 0, '10');
      await redis.zrangebyscore('sorted', 0, '+inf', 'LIMIT', 0, 10);
      await redis.lrange('list', 0, 10);
    };
    expect(await found(act)).toEqual([]);
  });
});
