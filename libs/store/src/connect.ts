import { tlsClientOptions, type EnvOf, type commonVariables } from '@svc/runtime';
import { Redis } from 'ioredis';

type StoreEnv = EnvOf<typeof commonVariables>;

/**
 * Purpose of a connection. `request`: a caller waits, so commands time out. `worker`: BullMQ's blocking connections,
 * which wait without a timeout.
 */
export type RedisUse = 'request' | 'worker';

/** Connection options from the environment: REDIS_*. */
export async function redisOptions(env: StoreEnv, use: RedisUse) {
  const url = new URL(env.redisUrl);
  const password = url.password ? decodeURIComponent(url.password) : env.redisPassword;
  const tls =
    url.protocol === 'rediss:'
      ? await tlsClientOptions({
          ca: env.redisTlsCa,
          cert: env.redisTlsCert,
          key: env.redisTlsKey,
          serverName: env.redisTlsServerName,
          insecure: env.redisTlsInsecure,
          minVersion: env.tlsMinVersion,
        })
      : undefined;
  return {
    host: url.hostname,
    port: Number(url.port || 6379),
    db: Number(url.pathname.slice(1) || 0),
    ...(url.username && { username: decodeURIComponent(url.username) }),
    ...(password && { password }),
    ...(tls && { tls }),
    connectTimeout: env.redisDialTimeoutMs,
    retryStrategy: (times: number) => Math.min(50 * 2 ** Math.min(times, 6), 2_000),
    ...(use === 'request'
      ? {
          commandTimeout: env.redisReadTimeoutMs,
          maxRetriesPerRequest: 1,
          enableOfflineQueue: true,
          enableAutoPipelining: true,
          // ioredis sends an automatic pipeline only after the one before has ended. While Redis hangs, a request would wait for
          // both, and its client would give up first. The rate limiter's script, its first command, is sent at once.
          autoPipeliningIgnoredCommands: ['rlflxIncr'],
        }
      : { maxRetriesPerRequest: null }),
  };
}

export const openRedis = async (env: StoreEnv, use: RedisUse): Promise<Redis> =>
  new Redis(await redisOptions(env, use));
