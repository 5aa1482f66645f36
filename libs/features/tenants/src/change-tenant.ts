import {
  AppError,
  requireInstallationCaller,
  tierLimit,
  type AuditAct,
  type Caller,
  type TenantView,
} from '@svc/contract';
import type { License } from '@svc/identity';
import type { Store, TenantChange, TenantChangeOutcome, TenantRecord } from '@svc/store';

export interface TenantDeps {
  store: Pick<Store, 'tenants'>;
  license: Pick<License, 'entitlements'>;
  /** TENANT_ID: its admins run the installation. */
  defaultTenant: string;
  /** Applies a suspension to the jobs of the tenant, and a change to this process. Never throws; loops complete it. */
  statusChanged(tenant: string): Promise<void>;
}

/** Request of an administrator of the installation. */
interface TenantRequest {
  caller: Caller;
  requestId: string;
}

/** Actions in the audit, by change. */
const actions: Readonly<Record<TenantChange, string>> = {
  create: 'tenant.created',
  suspend: 'tenant.suspended',
  resume: 'tenant.resumed',
  delete: 'tenant.deleting',
  finish: 'tenant.deleted',
};

/** @throws tenant_access_denied, tenant_exists, tier_limit_exceeded */
export async function createTenant(
  deps: TenantDeps,
  request: TenantRequest,
  { id, display_name = '' }: { id: string; display_name?: string },
): Promise<TenantView> {
  const { principalId, submitterId } = request.caller;
  const fields = { display_name, created_by: principalId || submitterId };
  const outcome = await applyChange(deps, request, id, { change: 'create', fields });
  if (outcome.kind === 'full') throw full(outcome.count, deps.license.entitlements().max_tenants);
  if (outcome.kind !== 'changed') throw new AppError('tenant_exists');
  return readTenant(deps, id);
}

/**
 * Stops everything of a tenant. From the write on, none of its jobs is dispatched; every replica refuses its credentials within
 * a second, and its running jobs are cancelled. See docs/adr/0034-suspension-of-tenants.md.
 *
 * @throws tenant_access_denied, tenant_protected, tenant_not_found, tenant_state_conflict
 */
export async function suspendTenant(
  deps: TenantDeps,
  request: TenantRequest,
  id: string,
  reason: string,
): Promise<TenantView> {
  requireInstallationCaller(request.caller, deps.defaultTenant);
  requireOther(deps, id);
  requireDone(await applyChange(deps, request, id, { change: 'suspend', fields: { reason }, reason }));
  // After a crash here, the loop of the schedulers cancels its jobs.
  await deps.statusChanged(id);
  return readTenant(deps, id);
}

/** @throws tenant_access_denied, tenant_not_found, tenant_state_conflict */
export async function resumeTenant(deps: TenantDeps, request: TenantRequest, id: string): Promise<TenantView> {
  requireDone(await applyChange(deps, request, id, { change: 'resume', fields: { reason: '' } }));
  await deps.statusChanged(id);
  return readTenant(deps, id);
}

/**
 * Begins the deletion of a suspended tenant, which a loop of the gateways completes.
 *
 * @throws tenant_access_denied, tenant_protected, tenant_not_found, tenant_state_conflict, legal_hold_active
 */
export async function removeTenant(deps: TenantDeps, request: TenantRequest, id: string): Promise<TenantView> {
  requireInstallationCaller(request.caller, deps.defaultTenant);
  requireOther(deps, id);
  requireDone(await applyChange(deps, request, id, { change: 'delete', fields: {} }));
  return readTenant(deps, id);
}

function applyChange(
  deps: TenantDeps,
  { caller, requestId }: TenantRequest,
  tenant: string,
  { change, fields, reason }: { change: TenantChange; fields: Record<string, string>; reason?: string },
): Promise<TenantChangeOutcome> {
  requireInstallationCaller(caller, deps.defaultTenant);
  const act: AuditAct = {
    event_type: 'tenant.changed',
    action: actions[change],
    severity: 'HIGH',
    identity: caller.principalId || caller.submitterId,
    ...(reason && { reason }),
    extra: {
      request_id: requestId,
      role: caller.role,
      key_id: caller.keyId,
      resource_type: 'tenant',
      resource_id: tenant,
      actor_tenant: caller.tenant,
    },
  };
  const maxTenants = deps.license.entitlements().max_tenants;
  return deps.store.tenants.change(tenant, { change, maxTenants, fields, actorTenant: caller.tenant, act });
}

function requireDone(outcome: TenantChangeOutcome): void {
  if (outcome.kind === 'missing') throw new AppError('tenant_not_found');
  if (outcome.kind === 'held') throw new AppError('legal_hold_active');
  if (outcome.kind === 'refused') throw new AppError('tenant_state_conflict', { tenant_status: outcome.status });
}

/** Without its default tenant, an installation has no administrators. */
function requireOther({ defaultTenant }: TenantDeps, id: string): void {
  if (id === defaultTenant) throw new AppError('tenant_protected');
}

/** @throws tenant_not_found */
export async function readTenant({ store }: Pick<TenantDeps, 'store'>, id: string): Promise<TenantView> {
  const record = await store.tenants.get(id);
  if (!record) throw new AppError('tenant_not_found');
  return toTenantView(record);
}

export const toTenantView = ({ tenant, createdUs, updatedUs, ...record }: TenantRecord): TenantView => ({
  id: tenant,
  status: record.status,
  display_name: record.displayName,
  ...(record.reason && { reason: record.reason }),
  ...(record.createdBy && { created_by: record.createdBy }),
  ...(createdUs > 0 && { created_at: toTime(createdUs) }),
  ...(updatedUs > 0 && { updated_at: toTime(updatedUs) }),
  ...(record.erasure && { erasure: record.erasure }),
});

const toTime = (us: number): string => new Date(Math.floor(us / 1_000)).toISOString();

const full = (current: number, allowed: number) =>
  tierLimit({
    message: `there are ${current} tenants and the plan allows ${allowed}`,
    limit: 'max_tenants',
    current,
    allowed,
  });
