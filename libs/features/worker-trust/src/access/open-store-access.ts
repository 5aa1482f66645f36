import { subjects } from '@svc/contract';
import { type Platform, startLoops } from '@svc/platform';
import type { Boot, SchedulerEnv } from '@svc/runtime';
import { redisOptions } from '@svc/store';
import Redis from 'ioredis';
import { WorkerTrustRepository } from '../worker-trust.repository';
import { NatsAccess } from './nats-access';
import { RedisAccess } from './redis-access';
import { StoreAccess, type StoreAccessDeps } from './store-access';

type AccessEnv = Parameters<typeof redisOptions>[0] &
  Pick<SchedulerEnv, 'defaultTenant' | 'natsWorkersFile' | 'redisAclUrl'>;

const SYNC_EVERY_MS = 500;

export type StoreAccessEvents = Pick<StoreAccessDeps, 'onApplied' | 'onFailed'>;

export interface OpenStoreAccess {
  /** Call when the connection to NATS was restored. */
  reconnected(): void;
}

/** Makes users of NATS and Redis from the credentials of workers, for the stores that are configured. */
export async function openStoreAccess(
  { env, log, onStop }: Pick<Boot<AccessEnv>, 'env' | 'log' | 'onStop'>,
  { store, bus }: Pick<Platform, 'store' | 'bus'>,
  events: StoreAccessEvents,
): Promise<OpenStoreAccess> {
  const nats = env.natsWorkersFile === undefined ? undefined : new NatsAccess(env.natsWorkersFile, bus);
  const admin = env.redisAclUrl === undefined ? undefined : await openAdmin(env, env.redisAclUrl);
  if (!nats && !admin) return { reconnected: () => undefined };
  admin?.on('error', (error: Error) =>
    log.oncePer('redis-acl', 10_000).warn('the connection that manages Redis users failed', { error }),
  );
  const targets = [...(nats ? [nats] : []), ...(admin ? [new RedisAccess(admin, env.defaultTenant)] : [])];
  const access = new StoreAccess({ trust: new WorkerTrustRepository(store.redis), targets, ...events });
  const failed = (error: unknown) =>
    log
      .oncePer('store-access', 10_000)
      .warn('reading worker credentials failed; users of the stores stay as they are', {
        error,
      });
  bus.subscribe(subjects.configChanged, () => access.sync().catch(failed));
  const loop = { name: 'store-access', everyMs: SYNC_EVERY_MS, run: () => access.sync() };
  const stop = startLoops([loop], (_, error) => failed(error));
  onStop('store-access', async () => {
    await stop();
    admin?.disconnect();
  });
  return { reconnected: () => nats?.reconnected() };
}

const openAdmin = async (env: AccessEnv, redisUrl: string): Promise<Redis> =>
  new Redis(await redisOptions({ ...env, redisUrl, redisPassword: undefined }, 'request'));
