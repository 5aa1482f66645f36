import {
  AppError,
  everyTenant,
  limits,
  type AuditAct,
  type Caller,
  type LegalHold,
  type LegalHoldRequest,
  type TenantScope,
} from '@svc/contract';
import type { Clock, Random } from '@svc/platform';
import type { LegalHoldRepository } from '@svc/store';

export interface LegalHoldDeps {
  store: { legalHolds: LegalHoldRepository };
  clock: Pick<Clock, 'nowMs' | 'nowUs'>;
  random: Pick<Random, 'uuid'>;
  defaultTenant: string;
}

/**
 * Creates a legal hold. See docs/reference/audit.md#legal-holds.
 *
 * @throws tenant_access_denied, legal_hold_exists
 */
export async function createLegalHold(
  deps: LegalHoldDeps,
  caller: Caller,
  requestId: string,
  { tenant_id, reason }: LegalHoldRequest,
): Promise<{ hold: LegalHold }> {
  const tenant = tenant_id || defaultFor(caller, deps.defaultTenant);
  if (tenant !== caller.tenant && !actsForAll(caller)) throw new AppError('tenant_access_denied');
  const hold = {
    id: deps.random.uuid(),
    tenant_id: tenant,
    reason,
    created_by: caller.principalId || caller.submitterId,
    created_at: new Date(deps.clock.nowMs()).toISOString(),
  };
  const act = buildAct('legal_hold.created', caller, requestId, hold.id, { held_tenant: tenant });
  const actor = { tenant: caller.tenant, act: { ...act, reason } };
  const outcome = await deps.store.legalHolds.create(hold, deps.clock.nowUs(), actor);
  if (outcome === 'exists') throw new AppError('legal_hold_exists');
  return { hold };
}

/** @throws tenant_access_denied */
export async function listLegalHolds(
  deps: LegalHoldDeps,
  caller: Caller,
  { tenant = '' }: { tenant?: string },
): Promise<{ holds: LegalHold[] }> {
  if (tenant !== '' && tenant !== caller.tenant && !actsForAll(caller)) throw new AppError('tenant_access_denied');
  return { holds: await deps.store.legalHolds.list(tenant || caller.scope, limits.legalHoldsListed) };
}

/** @throws legal_hold_not_found, legal_hold_already_released */
export async function releaseLegalHold(
  deps: LegalHoldDeps,
  caller: Caller,
  requestId: string,
  id: string,
): Promise<{ released: true; id: string }> {
  const by = {
    releasedAt: new Date(deps.clock.nowMs()).toISOString(),
    releasedBy: caller.principalId || caller.submitterId,
  };
  const scope: TenantScope = actsForAll(caller) ? everyTenant : caller.tenant;
  const actor = { tenant: caller.tenant, act: buildAct('legal_hold.released', caller, requestId, id) };
  const { kind } = await deps.store.legalHolds.release(scope, id, by, actor);
  if (kind === 'missing') throw new AppError('legal_hold_not_found');
  if (kind === 'repeated') throw new AppError('legal_hold_already_released');
  return { released: true, id };
}

const actsForAll = ({ scope, allowCrossTenant }: Caller): boolean => scope === everyTenant || allowCrossTenant;

const defaultFor = (caller: Caller, defaultTenant: string): string =>
  caller.scope === everyTenant ? defaultTenant : caller.tenant;

const buildAct = (
  action: 'legal_hold.created' | 'legal_hold.released',
  caller: Caller,
  requestId: string,
  id: string,
  extra: Readonly<Record<string, string>> = {},
): AuditAct => ({
  event_type: action,
  action,
  severity: 'HIGH',
  identity: caller.principalId || caller.submitterId,
  extra: {
    request_id: requestId,
    role: caller.role,
    key_id: caller.keyId,
    resource_type: 'legal_hold',
    resource_id: id,
    actor_tenant: caller.tenant,
    ...extra,
  },
});
