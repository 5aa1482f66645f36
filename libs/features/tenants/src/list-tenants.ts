import { requireInstallationCaller, type Caller, type TenantView } from '@svc/contract';
import { isTenantName } from '@svc/identity';
import { toTenantView, type TenantDeps } from './change-tenant';

/** A page of the tenants by name. The cursor is the last name of the page before. @throws tenant_access_denied */
export async function listTenants(
  deps: TenantDeps,
  caller: Caller,
  { limit, cursor }: { limit: number; cursor: string },
): Promise<{ items: TenantView[]; next_cursor: string | null }> {
  requireInstallationCaller(caller, deps.defaultTenant);
  const { tenants } = deps.store;
  const names = (await tenants.names()).filter((name) => isTenantName(name) && name > cursor);
  const page = names.slice(0, limit);
  const records = await Promise.all(page.map((name) => tenants.get(name)));
  return {
    // One that was deleted in between is left out.
    items: records.flatMap((record) => (record && record.status !== 'deleted' ? [toTenantView(record)] : [])),
    next_cursor: names.length > limit ? (page.at(-1) ?? null) : null,
  };
}
