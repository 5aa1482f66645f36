import {
  AppError,
  lockLimits,
  type Caller,
  type LockBody,
  type LockRenewal,
  type LockRequest,
  type LockView,
} from '@svc/contract';
import type { LockRecord, Store } from '@svc/store';

export interface LockDeps {
  store: Pick<Store, 'locks'>;
  /** TENANT_ID: the tenant of the operators of the installation. */
  defaultTenant: string;
}

/** Names of locks are private to the tenant. @throws resource_required, lock_not_found */
export async function getLock({ store }: LockDeps, caller: Caller, resource: string): Promise<LockView> {
  requireName(resource);
  const lock = await store.locks.read(caller.tenant, resource);
  if (!lock) throw new AppError('lock_not_found');
  return toView(resource, lock);
}

/** See docs/reference/locks.md. @throws resource_required, lock_unavailable */
export async function acquireLock({ store }: LockDeps, caller: Caller, request: LockRequest): Promise<LockView> {
  const { resource, owner, mode, ttl_ms } = request;
  requireName(resource);
  const lock = await store.locks.acquire(caller.tenant, resource, owner, mode, toTtl(ttl_ms));
  if (!lock) throw new AppError('lock_unavailable');
  return toView(resource, lock, owner);
}

/** @throws lock_not_held */
export async function releaseLock(
  { store }: LockDeps,
  caller: Caller,
  { resource, owner }: LockBody,
): Promise<{ released: true; lock: LockView | null }> {
  const lock = await store.locks.release(caller.tenant, resource, owner);
  if (!lock) throw new AppError('lock_not_held');
  return { released: true, lock: lock === 'freed' ? null : toView(resource, lock, owner) };
}

/** @throws lock_not_renewable */
export async function renewLock({ store }: LockDeps, caller: Caller, renewal: LockRenewal): Promise<LockView> {
  const { resource, owner, ttl_ms } = renewal;
  const lock = await store.locks.renew(caller.tenant, resource, owner, toTtl(ttl_ms));
  if (!lock) throw new AppError('lock_not_renewable');
  return toView(resource, lock, owner);
}

/** A name of spaces only is a missing one. @throws resource_required */
function requireName(resource: string): void {
  if (resource.trim() === '') throw new AppError('resource_required');
}

const toTtl = (wantedMs: number): number => (wantedMs > 0 ? wantedMs : lockLimits.standardMs);

function toView(resource: string, { mode, updatedAt, owners }: LockRecord, by?: string): LockView {
  const own = owners.find(({ owner }) => owner === by);
  return {
    resource,
    mode,
    owners: Object.fromEntries(owners.map(({ owner, count }) => [owner, count])),
    updated_at: new Date(Math.floor(updatedAt / 1_000)).toISOString(),
    expires_at: new Date(Math.max(...owners.map(({ expiresMs }) => expiresMs))).toISOString(),
    fencing_token: own?.token ?? Math.max(...owners.map(({ token }) => token)),
  };
}
