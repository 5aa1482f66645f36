import { AppError, everyTenant, managedScope, resolvePermissions, type Caller } from '@svc/contract';
import type { GateRules } from '@svc/http';
import type { License } from '@svc/identity';
import type { Clock, Random } from '@svc/platform';
import type { Store } from '@svc/store';
import type { ManagedKeys } from './managed-keys';
import type { RoleBook } from './role-book';

export interface AccessDeps {
  store: Pick<Store, 'apiKeys' | 'roles'>;
  managedKeys: Pick<ManagedKeys, 'sync'>;
  roleBook: Pick<RoleBook, 'all' | 'read' | 'sync'>;
  license: Pick<License, 'entitlements'>;
  clock: Pick<Clock, 'nowMs' | 'nowUs'>;
  random: Pick<Random, 'uuid' | 'hex'>;
  defaultTenant: string;
  /** Number of users, of any tenant, that have a role. */
  countUsersWithRole(role: string): Promise<number>;
}

/** The rules by which the gateway authorizes callers. */
export const gateRules = ({ license, roleBook }: Pick<AccessDeps, 'license' | 'roleBook'>): GateRules => ({
  rbac: () => license.entitlements().rbac,
  isEntitled: (name) => license.entitlements()[name],
  roles: () => roleBook.all(),
});

/** Whether every one of these permissions is held: `admin.*` holds all, and is held only by itself. */
export const holdsAll = (held: ReadonlySet<string>, wanted: Iterable<string>): boolean =>
  held.has('admin.*') || [...wanted].every((permission) => held.has(permission));

/**
 * Whether a caller may give a role to a user, a group or a key: its own role holds all permissions of that role.
 */
export function mayGrantRole({ roleBook }: Pick<AccessDeps, 'roleBook'>, caller: Caller, role: string): boolean {
  const roles = roleBook.all();
  return holdsAll(resolvePermissions(caller.role, roles), resolvePermissions(role, roles));
}

/** @throws tenant_access_denied */
export function requireInstallation({ defaultTenant }: Pick<AccessDeps, 'defaultTenant'>, caller: Caller): void {
  if (managedScope(caller, defaultTenant) !== everyTenant) throw new AppError('tenant_access_denied');
}
