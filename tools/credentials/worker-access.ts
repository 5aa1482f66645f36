import { aclUser, adminUser, generatedUser, poolUser, serviceUser, type StoreIdentities } from './render';

/** Addresses of the stores, as `host:port`. */
export interface StoreAddresses {
  nats: string;
  redis: string;
}

/** Connection settings of a worker. */
export interface WorkerAccess {
  worker_id: string;
  nats_url: string;
  nats_user: string;
  nats_password: string;
  redis_url: string;
}

/** Passwords are base64url and need no URL encoding. */
export const natsUrl = (user: string, password: string, address: string) => `nats://${user}:${password}@${address}`;
export const redisUrl = (user: string, password: string, address: string) => `redis://${user}:${password}@${address}`;

export const serviceUrls = (identities: StoreIdentities, { nats, redis }: StoreAddresses) => ({
  nats: natsUrl(serviceUser, identities.natsServicePassword, nats),
  redis: redisUrl(serviceUser, identities.redisServicePassword, redis),
  redisAcl: redisUrl(aclUser, identities.redisAclPassword, redis),
  redisAdmin: redisUrl(adminUser, identities.redisAdminPassword, redis),
});

/** The access of every worker, by pool. */
export const workerAccess = (
  { pools }: StoreIdentities,
  { nats, redis }: StoreAddresses,
): Record<string, WorkerAccess[]> =>
  Object.fromEntries(
    pools.map(({ name, redisPassword, workers }) => [
      name,
      workers.map(({ id, natsPassword }) => ({
        worker_id: id,
        nats_url: natsUrl(generatedUser(name, id), natsPassword, nats),
        nats_user: generatedUser(name, id),
        nats_password: natsPassword,
        redis_url: redisUrl(poolUser(name), redisPassword, redis),
      })),
    ]),
  );
