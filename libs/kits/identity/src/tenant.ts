import { everyTenant, type TenantScope } from '@svc/contract';
import { isTenantName, type Identity } from './identity';

export type TenantChoice =
  | { kind: 'tenant'; tenant: string; scope: TenantScope }
  | { kind: 'refused'; code: 'tenant_access_denied' | 'tenant_id_required' };

/**
 * Chooses the tenant of a request from its credential and the tenant header.
 * See docs/reference/http.md#tenants.
 */
export function chooseTenant(
  { tenant, allowCrossTenant }: Identity,
  header: string | undefined,
  defaultTenant: string,
): TenantChoice {
  const named = header?.trim() ?? '';
  if (!named) {
    if (!tenant) return { kind: 'refused', code: 'tenant_id_required' };
    return { kind: 'tenant', tenant, scope: allowCrossTenant ? everyTenant : tenant };
  }
  // Invalid names include `*`, the scope of every tenant, which a header must not select.
  const own = tenant || defaultTenant;
  if (!isTenantName(named) || (named !== own && !allowCrossTenant)) {
    return { kind: 'refused', code: 'tenant_access_denied' };
  }
  return { kind: 'tenant', tenant: named, scope: named };
}
