import { Redis } from 'ioredis';
import { measureRate, type LimitServers } from './servers';

/** The minimal writes of a transition: the record, an index, the history. */
const lua = `
redis.call('HSET', KEYS[1], 'state', ARGV[1], 'updated_at', ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[2], KEYS[1])
redis.call('RPUSH', KEYS[3], ARGV[1])
return 'moved'
`;

/** Scripts of three writes per second, 500 in flight. */
export async function redisScript({ redis: { url }, quick }: LimitServers): Promise<number> {
  const redis = new Redis(url);
  const sha = String(await redis.script('LOAD', lua));
  const run = (i: number) => redis.evalsha(sha, 3, `{s}:job:${i}`, '{s}:index', `{s}:events:${i}`, 'RUNNING', i);
  try {
    await measureRate(2_000, 500, run);
    return await measureRate(quick ? 20_000 : 200_000, 500, run);
  } finally {
    await redis.flushall();
    redis.disconnect();
  }
}
