import { AppError, everyTenant, type Caller, type ConfigScope } from '@svc/contract';
import { getOwner, type ConfigDocument } from '@svc/store';
import type { DocumentPlace } from './documents';

/** Rules for access to config documents. */
export interface ConfigRules {
  /** TENANT_ID: the tenant of the operators of the installation. */
  defaultTenant: string;
  /** Whether the license entitles RBAC: then reads need the permission only. */
  rbac(): boolean;
}

export const defaultPlace = { scope: 'system', scope_id: 'default' } as const;

export const isDefault = ({ scope, scope_id }: DocumentPlace): boolean =>
  scope === defaultPlace.scope && scope_id === defaultPlace.scope_id;

/**
 * The document for a scope and an id; undefined when a required id is missing.
 * See docs/reference/config.md#documents.
 */
export function getDocumentPlace(
  caller: Caller,
  scope: ConfigScope,
  id: string | undefined,
): DocumentPlace | undefined {
  const usual = scope === 'system' ? defaultPlace.scope_id : scope === 'org' ? caller.tenant : undefined;
  const scope_id = id ?? usual;
  return scope_id === undefined ? undefined : { scope, scope_id };
}

/** Only the default tenant, or a caller for all tenants, manages shared documents. See docs/reference/http.md#tenants. */
const actsForAll = ({ defaultTenant }: ConfigRules, { tenant, allowCrossTenant }: Caller): boolean =>
  allowCrossTenant || tenant === defaultTenant;

/**
 * Requires that a caller may read documents of this place, whether or not one is stored. system/default applies to every
 * tenant and its admins can read it; the other system documents hold data of all tenants.
 *
 * @throws access_denied, config_place_forbidden
 */
export function requireReadable(rules: ConfigRules, caller: Caller, place: DocumentPlace): void {
  if (place.scope === 'system' && caller.role !== 'admin' && !rules.rbac()) throw new AppError('access_denied');
  if (place.scope === 'system' && !isDefault(place) && !actsForAll(rules, caller)) throw forbidden();
  requireOwnOrg(caller, place);
}

/**
 * Requires that a caller may write documents of this place, whether or not one is stored.
 *
 * @throws config_place_forbidden
 */
export function requireWritable(rules: ConfigRules, caller: Caller, place: DocumentPlace): void {
  if (place.scope === 'system' && !actsForAll(rules, caller)) throw forbidden();
  requireOwnOrg(caller, place);
}

/** @throws config_place_forbidden */
export function requireOwnOrg({ tenant, scope }: Caller, place: DocumentPlace): void {
  if (place.scope === 'org' && place.scope_id !== tenant && scope !== everyTenant) throw forbidden();
}

/** Whether a stored document is hidden from a caller: another tenant's team, workflow or step. */
export const isHidden = ({ tenant, scope }: Caller, document: ConfigDocument): boolean =>
  scope !== everyTenant && !belongsTo(tenant, document);

/** Whether a document applies to a tenant. A document without an owner predates ownership and applies to all tenants. */
export const belongsTo = (tenant: string, document: ConfigDocument): boolean =>
  (getOwner(document) ?? tenant) === tenant;

/**
 * Requires that a caller may replace a stored document.
 *
 * @throws config_not_found, config_place_forbidden
 */
export function requireReplaceable(rules: ConfigRules, caller: Caller, stored: ConfigDocument): void {
  if (isHidden(caller, stored)) throw new AppError('config_not_found');
  const isUnsigned = isTenants(stored) && getOwner(stored) === undefined;
  if (isUnsigned && !actsForAll(rules, caller)) throw forbidden();
}

/** Whether documents of this scope have an owning tenant. */
export const isTenants = ({ scope }: Pick<DocumentPlace, 'scope'>): boolean =>
  scope === 'team' || scope === 'workflow' || scope === 'step';

const forbidden = () => new AppError('config_place_forbidden');
