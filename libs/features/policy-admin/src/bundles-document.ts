import { AppError, managedScope, tierLimit, type Caller } from '@svc/contract';
import { isBundleVisible, policyPlace, readBundles, type BundleRecord } from '@svc/policy';
import { describeContent, type ConfigDocument, type PolicySnapshot } from '@svc/store';
import { announceChange, readDocument, successor } from '@svc/settings';
import { buildAudit, type PolicyChange } from '@svc/audit';
import { isRecord } from '@svc/json';
import type { PolicyReadDeps, PolicyWriteDeps } from './policy-deps';

/** The stored values by bundle id, of any shape. */
type Bundles = Readonly<Record<string, unknown>>;

/** The bundles currently stored. */
export interface StoredBundles {
  /** By byte order of their ids; entries that could not be read are left out. */
  bundles: ReadonlyMap<string, BundleRecord>;
  /** All stored values, unparsed. */
  raw: Bundles;
  /** Time of the last write; '' before the first. */
  updatedAt: string | null;
}

export interface BundleChange<T> {
  /** New values by id; undefined removes a bundle. All other bundles are unchanged. */
  set: ReadonlyMap<string, BundleRecord | undefined>;
  result: T;
  /** Entry for the policy audit, written in the same transaction. */
  entry: PolicyChange;
  /** Snapshots that are stored with the change, oldest first, and ids of snapshots that must be kept for a day. */
  taken?: readonly PolicySnapshot[];
  held?: readonly string[];
}

const tries = 3;
/** Kernels read the whole document at every change, and its last revisions are stored whole. */
const MAX_BYTES = 4 * 1_024 * 1_024;

export async function readStoredBundles(deps: Pick<PolicyReadDeps, 'store'>): Promise<StoredBundles> {
  return readStored(await readDocument(deps, policyPlace));
}

/** The bundles that a caller can read: all but the overrides of other tenants' workflows. */
export async function readVisibleBundles(
  deps: Pick<PolicyReadDeps, 'store' | 'defaultTenant'>,
  caller: Caller,
): Promise<Pick<StoredBundles, 'bundles' | 'updatedAt'>> {
  const { bundles, updatedAt } = await readStoredBundles(deps);
  return { bundles: visibleTo(deps, caller, bundles), updatedAt };
}

export function visibleTo(
  { defaultTenant }: Pick<PolicyReadDeps, 'defaultTenant'>,
  caller: Caller,
  bundles: StoredBundles['bundles'],
): StoredBundles['bundles'] {
  const scope = managedScope(caller, defaultTenant);
  return new Map([...bundles].filter(([id, record]) => isBundleVisible(scope, id, record)));
}

export function readStored(document: ConfigDocument | undefined): StoredBundles {
  return {
    bundles: readBundles(document?.data).bundles,
    raw: bundlesIn(document?.data),
    updatedAt: document?.updated_at || null,
  };
}

/** All bundle values in the document's data. */
export function bundlesIn(data: ConfigDocument['data'] | undefined): Bundles {
  const raw = data?.['bundles'];
  return isRecord(raw) ? { ...raw } : {};
}

/**
 * Changes bundles and appends to the audit in one compare-and-set, then notifies every kernel. `change` may be called more
 * than once: it gets the current bundles, and may throw to abort. See docs/reference/policy.md#bundles.
 *
 * @throws policy_version_conflict after three lost races, tier_limit_exceeded, request_too_large
 */
export async function changeBundles<T>(
  deps: PolicyWriteDeps,
  caller: Caller,
  change: (stored: StoredBundles, nowMs: number) => BundleChange<T>,
): Promise<T> {
  for (let i = 0; i < tries; i++) {
    const document = await readDocument(deps, policyPlace);
    const stored = readStored(document);
    const nowUs = deps.clock.nowUs();
    const { set, result, entry, taken = [], held } = change(stored, Math.floor(nowUs / 1_000));
    const bundles = after(stored, set);
    requireRoom(deps, stored.raw, bundles);
    const next = successor(deps, policyPlace, document, { data: { ...document?.data, bundles } });
    describeBundles(stored.raw, set);
    const snapshots = { nowUs, taken, ...(held && { held }), audit: buildAudit(deps, caller, entry) };
    if (!(await deps.store.policy.replace(next, document?.revision ?? 0, snapshots))) continue;
    // After a crash here, kernels find the change by themselves.
    await announceChange(deps, policyPlace);
    return result;
  }
  throw new AppError('policy_version_conflict');
}

/** The hashes of a change cover the bundles that it writes or removes, by id. */
function describeBundles(raw: Bundles, set: BundleChange<unknown>['set']): void {
  const kept = Object.entries(raw).filter(([id]) => set.has(id));
  const written = [...set].filter(([, bundle]) => bundle);
  const [before, current] = [kept, written].map((list) => (list.length > 0 ? Object.fromEntries(list) : undefined));
  describeContent(current, before);
}

/** The stored values after a change is applied. */
export const after = ({ raw }: StoredBundles, set: BundleChange<unknown>['set']): Record<string, unknown> =>
  Object.fromEntries([...Object.entries(raw).filter(([id]) => !set.has(id)), ...set].filter(([, bundle]) => bundle));

/** @throws tier_limit_exceeded, request_too_large */
export function requireRoom({ maxBundles }: Pick<PolicyWriteDeps, 'maxBundles'>, raw: Bundles, bundles: Bundles): void {
  const allowed = maxBundles();
  const [before, current] = [Object.keys(raw).length, Object.keys(bundles).length];
  if (allowed > 0 && current > before && current > allowed) {
    throw tierLimit({
      message: `there are ${before} policy bundles and the plan allows ${allowed}`,
      limit: 'max_policy_bundles',
      current: before,
      allowed,
    });
  }
  const bytes = Buffer.byteLength(JSON.stringify(bundles));
  if (bytes > MAX_BYTES && bytes > Buffer.byteLength(JSON.stringify(raw))) {
    throw new AppError('request_too_large', {
      error: 'all policy bundles together are too large',
      limit_bytes: MAX_BYTES,
    });
  }
}

/**
 * Guards a write without a precondition: across retries of the compare-and-set it may only replace the text that was
 * stored at its first try, since a later one has not been seen by the caller.
 *
 * @returns to be called at each try; throws policy_version_conflict
 */
export function sameAtEachTry(ids: readonly string[]): (stored: StoredBundles) => void {
  let first: string | undefined;
  return ({ raw }) => {
    const texts = JSON.stringify(ids.map((id) => raw[id] ?? null));
    first ??= texts;
    if (first !== texts) throw new AppError('policy_version_conflict');
  };
}
