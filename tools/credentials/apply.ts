import { Redis } from 'ioredis';
import { connect } from 'nats';
import { setTimeout as sleep } from 'node:timers/promises';
import { poolUser, redisUsers, type StoreIdentities } from './render';
import type { WorkerAccess } from './worker-access';

const pauseMs = 50;

/** Creates the user of a pool in a running Redis. Unlike `ACL LOAD`, keeps the connections of other users open. */
export async function setRedisPoolUser(adminUrl: string, identities: StoreIdentities, pool: string): Promise<void> {
  const user = redisUsers(identities).find(({ name }) => name === poolUser(pool));
  if (!user) throw new Error(`pool ${pool} has no Redis user`);
  const redis = new Redis(adminUrl, { lazyConnect: true, maxRetriesPerRequest: 1, retryStrategy: () => null });
  redis.on('error', () => undefined); // reported by the command below
  try {
    await redis.connect();
    await redis.call('ACL', 'SETUSER', user.name, ...user.rules.split(' '));
  } finally {
    redis.disconnect();
  }
}

/** Resolves once NATS accepts the worker: a reload happens some time after its signal. @throws the last connection error */
export async function untilNatsAccepts(
  { nats_url, nats_user, nats_password }: WorkerAccess,
  withinMs: number,
): Promise<void> {
  const deadlineMs = Date.now() + withinMs;
  const servers = new URL(nats_url).host;
  for (;;) {
    try {
      const connection = await connect({ servers, user: nats_user, pass: nats_password, reconnect: false });
      return await connection.close();
    } catch (error) {
      if (Date.now() > deadlineMs) throw error;
    }
    await sleep(pauseMs);
  }
}
