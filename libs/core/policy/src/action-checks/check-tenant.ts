import { fold } from '../compile/glob';
import { needsHuman, refused, type ActionCheckInput, type Objection } from './action-check';
import { isTautology } from './tautology';

/** Filters that bound a query to one owner. */
const ownerKeys = new Set(['owner_id', 'tenant_id', 'tenant', 'owner', 'account_id', 'org_id']);
/** The ones among them that name a tenant. */
const tenantKeys = new Set(['tenant_id', 'tenant', 'org_id']);
/** Filters that include archived or deleted rows. */
const archiveKeys = new Set([
  'archived', 'is_archived', 'include_archived', 'with_archived', 'show_archived', 'deleted', 'is_deleted',
  'include_deleted', 'with_deleted', 'show_deleted', 'with_trashed', 'only_trashed',
]); // prettier-ignore
const maxByParameter: Readonly<Record<string, number>> = { page_size: 10_000, limit: 10_000, in_clause_size: 1_000 };
const falsy = new Set(['', '0', 'false', 'no', 'off', 'null', 'none']);

/**
 * Restricts queries and changes to the caller's tenant. Filters are matched by the last part of their name in any case
 * (`orders.tenantId` is `tenant_id`), and so are arguments of the same names. A tenant filter that names another tenant is
 * a different owner. Role `compliance`, alone or as the first word of a role's name, may see archived rows.
 * See docs/reference/policy.md#action-checks.
 */
export function checkTenant({ action, actor }: ActionCheckInput): Objection | undefined {
  if (action.kind !== 'tenant_query' && action.kind !== 'mutation') return undefined;
  const filters = Object.entries(action.filters).map(([name, value]) => ({
    key: normalizeKey(name),
    value: value.trim(),
  }));
  const wild = action.wildcards.map(normalizeKey).find((key) => ownerKeys.has(key));
  return (
    (actor.isCrossTenant ? undefined : crossing(action, actor.tenant, filters, wild)) ??
    archived(action, actor.role, filters) ??
    tooLarge(action, filters)
  );
}

interface Filter {
  key: string;
  value: string;
}

function crossing(
  { target_resource: target }: ActionCheckInput['action'],
  tenant: string,
  filters: readonly Filter[],
  wild: string | undefined,
): Objection | undefined {
  const isOther = (name: string) => fold(name) !== fold(tenant);
  const names = filters.filter(({ key, value }) => tenantKeys.has(key) && value !== '' && !isWild(value));
  if ((target?.owner_tenant && isOther(target.owner_tenant)) || names.some(({ value }) => isOther(value))) {
    return refused('cross_tenant:owner_mismatch', 'what is asked for belongs to another tenant');
  }
  const ids = [target?.id ?? '', ...filters.filter(({ key }) => /(^|_)id$/.test(key)).map(({ value }) => value)];
  if (ids.some((id) => /^tnt_.+_/i.test(id) && !fold(id).startsWith(`tnt_${fold(tenant)}_`))) {
    return refused('cross_tenant:prefixed_id_mismatch', 'the id is one of another tenant');
  }
  const key = wild ?? filters.find((filter) => ownerKeys.has(filter.key) && isWild(filter.value))?.key;
  if (key !== undefined) return refused(`wildcard_owner:${key}`, 'the owner is not bounded');
  const where = filters.find((filter) => filter.key === 'raw_where');
  if (where && isTautology(where.value)) return refused('wildcard_owner:raw_where', 'the condition is always true');
  return undefined;
}

const isWild = (value: string): boolean => /[*%]/.test(value);

function archived(
  { target_resource }: ActionCheckInput['action'],
  role: string,
  filters: readonly Filter[],
): Objection | undefined {
  if (/^compliance([_-]|$)/i.test(role)) return undefined;
  const asked = filters.find(({ key, value }) => archiveKeys.has(key) && !falsy.has(value.toLowerCase()));
  const what = target_resource?.archived ? 'target_resource' : asked?.key;
  return what === undefined
    ? undefined
    : refused(`archived_bypass:${what}`, 'rows that are archived or deleted are not read back');
}

function tooLarge({ args = {} }: ActionCheckInput['action'], filters: readonly Filter[]): Objection | undefined {
  const given = Object.entries(args).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [{ key: normalizeKey(name), value: String(value) }] : [],
  );
  const large = [...filters, ...given].find(({ key, value }) => {
    const limit = Object.hasOwn(maxByParameter, key) ? maxByParameter[key] : undefined;
    // A negative limit often means unlimited.
    return limit !== undefined && (Number(value) > limit || Number(value) < 0);
  });
  return large && needsHuman(`large_enumeration:${large.key}`, 'so many rows at once are for a person to allow');
}

/** `orders."tenantId"` is `tenant_id`. */
function normalizeKey(name: string): string {
  const last = name.trim().split('.').at(-1) ?? '';
  return last
    .replace(/["'`[\]]/g, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
}
