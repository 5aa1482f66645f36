import { AppError, limits, type Caller } from '@svc/contract';
import { policyPlace } from '@svc/policy';
import { getOwner, type ConfigDocument, type Store } from '@svc/store';
import { isDeepStrictEqual } from 'node:util';
import type { StoredFleet } from '@svc/platform';
import { bundlesIn, requireRoom as requireBundleRoom } from '@svc/policy-admin';
import { buildAudit, type PolicyAuditDeps } from '@svc/audit';
import { writerName } from '@svc/identity';
import {
  announceChange,
  type AnnounceDeps,
  type Change,
  changeDocument,
  type ConfigRules,
  type DocumentPlace,
  isDefault,
  isTenants,
  getDocumentPlace,
  readDocument,
  type Replace,
  requireReplaceable,
  requireWritable,
} from '@svc/settings';
import { type DataFault, dataFaults, maxBytes, maxKeys, unreadFaults } from './check-data';
import { type ParsedWrite, parseWrite } from './parse-write';
import { sealBundles, type SealDeps, type SealedData } from './seal-bundles';

export interface ConfigWriteDeps extends AnnounceDeps, ConfigRules {
  store: Pick<Store, 'config'>;
  fleet: StoredFleet;
  policy: SealDeps & PolicyAuditDeps;
  /** In production a topic may not name a pool that is not defined. See docs/reference/routing.md#pools. */
  strictPools: boolean;
}

/**
 * Changes a config document: each top-level key replaces the stored one, null removes it, other keys stay. PUT and POST are
 * the same. See docs/reference/config.md#documents.
 *
 * @throws invalid_json, config_request_invalid, config_invalid, config_key_forbidden, config_place_forbidden,
 *   config_not_found for another tenant's document, config_version_conflict; of policy bundles also
 *   policy_signing_required, tier_limit_exceeded
 */
export async function writeConfig(
  deps: ConfigWriteDeps,
  caller: Caller,
  body: Readonly<Record<string, unknown>>,
): Promise<void> {
  const write = parseWrite(body);
  const place = getDocumentPlace(caller, write.scope, write.scope_id);
  if (!place) throw invalid('scope_id', `is needed for scope ${write.scope}`);
  requireWritable(deps, caller, place);
  if (isDefault(place) && Object.hasOwn(write.data, 'bundles')) throw new AppError('config_key_forbidden');
  const checked = isPolicy(place) ? sealedData(deps, place, write.data) : checkedData(deps, place, write.data);
  if (!checked.ok) throw refused(write, checked.faults);
  const sealed = { ...write, data: checked.data };
  await requireRoom(deps, caller, place);

  const change = (stored: ConfigDocument | undefined): Change => {
    if (stored) requireReplaceable(deps, caller, stored);
    requireRevision(write, stored);
    const data = isPolicy(place) ? withAuthors(caller, stored, sealed.data) : sealed.data;
    const next = changed(caller, place, stored, { ...sealed, data });
    if (isPolicy(place)) requireBundleRoom(deps.policy, bundlesIn(stored?.data), bundlesIn(next.data));
    return next;
  };
  const replace = isPolicy(place) ? replaceWith(deps, caller, sealed.data) : undefined;
  await changeDocument(deps, place, change, replace);
  // The caller's next request to this replica uses the new pools. A failed reload is repeated within a second.
  if (isDefault(place)) await deps.fleet.reload().catch(deps.onNoticeFailed);
  // After a crash here, replicas find the change by themselves within 30 s.
  await announceChange(deps, place);
}

/** Written as a change of single bundles is: together with its audit entry, or not at all. */
function replaceWith({ policy }: ConfigWriteDeps, caller: Caller, { bundles }: ParsedWrite['data']): Replace {
  const audit = buildAudit(policy, caller, {
    action: 'edit',
    resource_type: 'policy',
    resource_id: `${policyPlace.scope}/${policyPlace.scope_id}`,
    bundle_ids: Object.keys(bundles ?? {}),
  });
  return (next, revision) =>
    policy.store.policy.replace(next, revision, { nowUs: policy.clock.nowUs(), taken: [], audit });
}

/** Changed bundles get the author that a write of each bundle would set; the others keep theirs. ADR 12. */
function withAuthors(caller: Caller, stored: ConfigDocument | undefined, data: ParsedWrite['data']) {
  if (!Object.hasOwn(data, 'bundles') || data['bundles'] === null) return data;
  const before = bundlesIn(stored?.data);
  const bundles = Object.entries(bundlesIn(data)).map(([id, bundle]) => {
    const kept = Object.hasOwn(before, id) ? before[id] : undefined;
    if (isDeepStrictEqual(kept, bundle)) return [id, kept];
    const { author } = bundle as { author?: unknown };
    return [id, { ...(bundle as object), author: writerName(caller, typeof author === 'string' ? author : undefined) }];
  });
  return { ...data, bundles: Object.fromEntries(bundles) as Record<string, unknown> };
}

const isPolicy = ({ scope, scope_id }: DocumentPlace): boolean =>
  scope === policyPlace.scope && scope_id === policyPlace.scope_id;

function sealedData({ policy }: ConfigWriteDeps, place: DocumentPlace, data: ParsedWrite['data']): SealedData {
  const faults = unreadFaults(place, data);
  return faults.length > 0 ? { ok: false, faults } : sealBundles(policy, data);
}

function checkedData({ strictPools }: ConfigWriteDeps, place: DocumentPlace, data: ParsedWrite['data']): SealedData {
  const faults = dataFaults(place, data, strictPools);
  return faults.length > 0 ? { ok: false, faults } : { ok: true, data };
}

/** Documents are counted without a lock, so concurrent creations may exceed the limit by a few. */
async function requireRoom({ store }: ConfigWriteDeps, { tenant }: Caller, place: DocumentPlace): Promise<void> {
  if (!isTenants(place) || (await store.config.countOf(tenant)) < limits.configDocuments) return;
  if (await readDocument({ store }, place)) return;
  throw invalid('scope_id', `there are ${limits.configDocuments} documents of this tenant already: use one of them`);
}

/** @throws config_version_conflict */
function requireRevision({ revision }: ParsedWrite, stored: ConfigDocument | undefined): void {
  const current = stored?.revision ?? 0;
  if (revision !== undefined && revision !== current) {
    throw new AppError('config_version_conflict', { revision: current });
  }
}

/** @throws config_place_forbidden, config_invalid */
function changed(
  caller: Caller,
  place: DocumentPlace,
  stored: ConfigDocument | undefined,
  { data, meta, prefix }: ParsedWrite,
): Change {
  // Writing an unowned document does not make the caller its owner.
  const owner = stored ? getOwner(stored) : caller.tenant;
  const isOwned = isTenants(place) && owner !== undefined;
  if (isTenants(place) && Object.hasOwn(meta, 'tenant') && meta['tenant'] !== owner)
    throw new AppError('config_place_forbidden');
  const next: Change = {
    data: merged(stored?.data ?? {}, data),
    meta: { ...merged(stored?.meta ?? {}, meta), ...(isOwned && { tenant: owner }) },
  };
  requireSize(place, next, stored, prefix);
  return next;
}

function merged<T>(
  stored: Readonly<Record<string, T>>,
  brought: Readonly<Record<string, T | null>>,
): Record<string, T> {
  const entries = Object.entries({ ...stored, ...brought });
  return Object.fromEntries(entries.flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
}

/**
 * Rejects a document over a limit, unless it shrinks: another version may have stored one that is too large.
 *
 * @throws config_invalid
 */
function requireSize(place: DocumentPlace, next: Change, stored: ConfigDocument | undefined, prefix: string): void {
  const field = prefix === '' ? '' : 'data';
  const keys = countKeys(next);
  if (keys > maxKeys(place) && (!stored || keys > countKeys(stored)))
    throw invalid(field, `a document has at most ${maxKeys(place)} keys, and this would have ${keys}`);
  const bytes = countBytes(next);
  if (bytes > maxBytes(place) && (!stored || bytes > countBytes(stored)))
    throw invalid(field, `a document has at most ${maxBytes(place)} bytes, and this would have ${bytes}`);
}

const countKeys = ({ data, meta }: Change): number =>
  Math.max(Object.keys(data).length, Object.keys(meta ?? {}).length);
const countBytes = ({ data, meta }: Change): number => Buffer.byteLength(JSON.stringify({ data, meta }));

const invalid = (field: string, message: string) =>
  new AppError('config_invalid', { violations: [{ in: 'body', field, path: field, message }] });

function refused({ prefix }: ParsedWrite, faults: readonly DataFault[]): AppError {
  const violations = faults.slice(0, 100).map(({ path, ...rest }) => {
    const written = `${prefix}${path}`;
    return { in: 'body', field: written.split('.')[0], path: written, ...rest };
  });
  return new AppError('config_invalid', { violations });
}
