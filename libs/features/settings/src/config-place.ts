import { AppError, everyTenant, type Caller, type ConfigScope } from '@svc/contract';
import { ownerOf, type ConfigDocument } from '@svc/store';
import type { DocumentPlace } from './documents';

/** Whose word counts for which document. */
export interface ConfigRules {
  /** TENANT_ID: the tenant of those who run the installation. */
  defaultTenant: string;
  /** Whether the license entitles RBAC: then the permission alone decides who reads. */
  rbac(): boolean;
}

export const defaultPlace = { scope: 'system', scope_id: 'default' } as const;

export const isDefault = ({ scope, scope_id }: DocumentPlace): boolean =>
  scope === defaultPlace.scope && scope_id === defaultPlace.scope_id;

/**
 * The document that a scope and an id name; undefined when the id is missing where it is needed.
 * See docs/reference/config.md#documents.
 */
export function placeOf(caller: Caller, scope: ConfigScope, id: string | undefined): DocumentPlace | undefined {
  const usual = scope === 'system' ? defaultPlace.scope_id : scope === 'org' ? caller.tenant : undefined;
  const scope_id = id ?? usual;
  return scope_id === undefined ? undefined : { scope, scope_id };
}

/** What belongs to all tenants is in the hands of the default one. See docs/reference/http.md#tenants. */
const actsForAll = ({ defaultTenant }: ConfigRules, { tenant, allowCrossTenant }: Caller): boolean =>
  allowCrossTenant || tenant === defaultTenant;

/**
 * Whether a caller may look there at all, whatever is stored. system/default holds for every tenant and its admins read it;
 * the other system documents hold things of all tenants.
 *
 * @throws access_denied, config_place_forbidden
 */
export function requireReadable(rules: ConfigRules, caller: Caller, place: DocumentPlace): void {
  if (place.scope === 'system' && caller.role !== 'admin' && !rules.rbac()) throw new AppError('access_denied');
  if (place.scope === 'system' && !isDefault(place) && !actsForAll(rules, caller)) throw forbidden();
  requireOwnOrg(caller, place);
}

/**
 * Whether a caller may write there, whatever is stored.
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

/** Whether a document takes part in a tenant's config. What nobody signed holds for all, as it did before owners were noted. */
export const belongsTo = (tenant: string, document: ConfigDocument): boolean =>
  (ownerOf(document) ?? tenant) === tenant;

/**
 * Whether a caller may replace what is stored.
 *
 * @throws config_not_found, config_place_forbidden
 */
export function requireReplaceable(rules: ConfigRules, caller: Caller, stored: ConfigDocument): void {
  if (isHidden(caller, stored)) throw new AppError('config_not_found');
  const isUnsigned = isTenants(stored) && ownerOf(stored) === undefined;
  if (isUnsigned && !actsForAll(rules, caller)) throw forbidden();
}

/** Whether documents of this scope note the tenant that wrote them. */
export const isTenants = ({ scope }: Pick<DocumentPlace, 'scope'>): boolean =>
  scope === 'team' || scope === 'workflow' || scope === 'step';

const forbidden = () => new AppError('config_place_forbidden');
