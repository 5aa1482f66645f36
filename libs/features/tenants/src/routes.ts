import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { createTenant, readTenant, removeTenant, resumeTenant, suspendTenant, type TenantDeps } from './change-tenant';
import type { ErasureDeps } from './erase-tenant';
import { listTenants } from './list-tenants';

/** Dependencies of these handlers. */
export interface TenantContext {
  tenants: TenantDeps;
  /** Deletes tenants, in a loop of the gateway. */
  tenantErasure: ErasureDeps;
}

const handle = handlersFor<TenantContext>();

/** Tenants, for administrators of the installation. */
export const tenantRoutes = [
  handle(contract.listTenants, ({ query: { limit = 100, cursor = '' }, caller, ctx }) =>
    listTenants(ctx.tenants, caller, { limit, cursor }),
  ),
  handle(contract.createTenant, ({ body, ctx, ...request }) => createTenant(ctx.tenants, request, body)),
  handle(contract.getTenant, async ({ params, caller, ctx }) => {
    contract.requireInstallationCaller(caller, ctx.tenants.defaultTenant);
    return readTenant(ctx.tenants, params.tenant);
  }),
  handle(contract.suspendTenant, ({ params, body, ctx, ...request }) =>
    suspendTenant(ctx.tenants, request, params.tenant, body.reason),
  ),
  handle(contract.resumeTenant, ({ params, ctx, ...request }) => resumeTenant(ctx.tenants, request, params.tenant)),
  handle(contract.removeTenant, ({ params, ctx, ...request }) => removeTenant(ctx.tenants, request, params.tenant)),
];
