/** Tenants: creation, suspension and deletion. */
export { eraseTenants, type ErasureDeps } from './erase-tenant';
export { type TenantContext, tenantRoutes } from './routes';
export { applySuspensionSoon, completeSuspensions } from './stop-tenant';
export { TenantStops } from './tenant-stops';
