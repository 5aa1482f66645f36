import type { WorkerTrustRecord } from '../worker-trust.repository';

/** What the stores verify a worker's token with. */
export interface WorkerSecrets {
  tenant: string;
  natsHash: string;
  redisDigest: string;
}

/** Workers that may connect to the stores, by id. */
export type AccessList = ReadonlyMap<string, WorkerSecrets>;

/**
 * The secrets of a worker whose credential is valid; undefined for others, for workers of an agent that is not active, and for
 * credentials of older versions.
 */
export function toSecrets(record: WorkerTrustRecord | undefined): WorkerSecrets | undefined {
  if (!record || record.revokedAt !== undefined || record.isAgentStopped) return undefined;
  const { nats_hash: natsHash, redis_digest: redisDigest } = record.token;
  const { tenant_id: tenant } = record.credential;
  return natsHash && redisDigest ? { tenant, natsHash, redisDigest } : undefined;
}

/** Differences between two lists, by what happens to the connections of these workers. */
export interface AccessChanges {
  granted: number;
  /** Their connections end, and are accepted again with the new token. */
  replaced: number;
  revoked: number;
}

/** @param isSame whether the secret of a worker in both lists is equal for this store */
export function countChanges<T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  isSame: (a: T, b: T) => boolean,
): AccessChanges {
  const changes = { granted: 0, replaced: 0, revoked: 0 };
  for (const [id, secret] of after) {
    const known = before.get(id);
    if (known === undefined) changes.granted += 1;
    else if (!isSame(known, secret)) changes.replaced += 1;
  }
  for (const id of before.keys()) if (!after.has(id)) changes.revoked += 1;
  return changes;
}
