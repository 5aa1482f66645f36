import { AppError, everyTenant, managedScope, type Caller } from '@svc/contract';
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
}

/** The rules by which the gateway authorizes callers. */
export const gateRules = ({ license, roleBook }: Pick<AccessDeps, 'license' | 'roleBook'>): GateRules => ({
  rbac: () => license.entitlements().rbac,
  isEntitled: (name) => license.entitlements()[name],
  roles: () => roleBook.all(),
});

/** @throws tenant_access_denied */
export function requireInstallation({ defaultTenant }: Pick<AccessDeps, 'defaultTenant'>, caller: Caller): void {
  if (managedScope(caller, defaultTenant) !== everyTenant) throw new AppError('tenant_access_denied');
}
