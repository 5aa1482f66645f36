import { AppError, managedScope, type Caller } from '@svc/contract';
import { isBundleVisible, policyPlace, readBundles, type BundleRecord } from '@svc/policy';
import type { ConfigDocument, PolicySnapshot } from '@svc/store';
import { announceChange, readDocument, successor } from '@svc/settings';
import { auditOf, type PolicyChange } from '@svc/audit';
import type { PolicyReadDeps, PolicyWriteDeps } from './policy-deps';

/** What stands under each id, whatever it is. */
type Bundles = Readonly<Record<string, unknown>>;

/** The bundles as they are stored now. */
export interface StoredBundles {
  /** By byte order of their ids; what could not be understood is not among them. */
  bundles: ReadonlyMap<string, BundleRecord>;
  /** Everything that stands there, as it stands there. */
  raw: Bundles;
  /** When any was last written; '' when none ever was. */
  updatedAt: string | null;
}

export interface BundleChange<T> {
  /** What is to stand at an id; undefined removes it. All other bundles stay as they are. */
  set: ReadonlyMap<string, BundleRecord | undefined>;
  result: T;
  /** What the policy audit is told, in the same write. */
  entry: PolicyChange;
  /** Snapshots that are kept with the change, oldest first, and ids of those that must stay for a day. */
  taken?: readonly PolicySnapshot[];
  held?: readonly string[];
}

const tries = 3;
/** Kernels read all of it at every change, and its last revisions are kept whole. */
const mostBytes = 4 * 1_024 * 1_024;

export async function readStoredBundles(deps: Pick<PolicyReadDeps, 'store'>): Promise<StoredBundles> {
  return storedOf(await readDocument(deps, policyPlace));
}

/** The bundles that a caller reads: all but the overrides of other tenants' workflows. */
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

export function storedOf(document: ConfigDocument | undefined): StoredBundles {
  return {
    bundles: readBundles(document?.data).bundles,
    raw: bundlesIn(document?.data),
    updatedAt: document?.updated_at || null,
  };
}

/** Everything that the data of the document has of bundles. */
export function bundlesIn(data: ConfigDocument['data'] | undefined): Bundles {
  const raw = data?.['bundles'];
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? { ...raw } : {};
}

/**
 * Changes bundles by compare-and-set, all of them or none and the audit with them, and tells every kernel. `change` may be
 * called more than once: it gets what is stored by then, and may throw to leave everything as it is.
 * See docs/reference/policy.md#bundles.
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
    const stored = storedOf(document);
    const nowUs = deps.clock.nowUs();
    const { set, result, entry, taken = [], held } = change(stored, Math.floor(nowUs / 1_000));
    const bundles = after(stored, set);
    requireRoom(deps, stored.raw, bundles);
    const next = successor(deps, policyPlace, document, { data: { ...document?.data, bundles } });
    const snapshots = { nowUs, taken, ...(held && { held }), audit: auditOf(deps, caller, entry) };
    if (!(await deps.store.policy.replace(next, document?.revision ?? 0, snapshots))) continue;
    // Should we die here, kernels find the change by themselves.
    await announceChange(deps, policyPlace);
    return result;
  }
  throw new AppError('policy_version_conflict');
}

/** Everything that stands there once a change is made. */
export const after = ({ raw }: StoredBundles, set: BundleChange<unknown>['set']): Record<string, unknown> =>
  Object.fromEntries([...Object.entries(raw).filter(([id]) => !set.has(id)), ...set].filter(([, bundle]) => bundle));

/** @throws tier_limit_exceeded, request_too_large */
export function requireRoom({ maxBundles }: Pick<PolicyWriteDeps, 'maxBundles'>, raw: Bundles, bundles: Bundles): void {
  const allowed = maxBundles();
  const [before, current] = [Object.keys(raw).length, Object.keys(bundles).length];
  if (allowed > 0 && current > before && current > allowed) {
    throw new AppError('tier_limit_exceeded', {
      message: `there are ${before} policy bundles and the plan allows ${allowed}`,
      limit: 'max_policy_bundles',
      current: before,
      allowed,
      upgrade_url: '',
    });
  }
  const bytes = Buffer.byteLength(JSON.stringify(bundles));
  if (bytes > mostBytes && bytes > Buffer.byteLength(JSON.stringify(raw))) {
    throw new AppError('request_too_large', {
      error: 'all policy bundles together are too large',
      limit_bytes: mostBytes,
    });
  }
}

/**
 * A write that names no text it replaces replaces what stood there when it came, and nothing else: what came between was
 * seen by nobody.
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
