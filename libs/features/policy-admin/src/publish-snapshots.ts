import { AppError, type Caller, type SnapshotItem, type SnapshotView } from '@svc/contract';
import { bundleSnapshotId, readBundles } from '@svc/policy';
import type { PolicySnapshot } from '@svc/store';
import { formatTime } from './bundle-content';
import { recordView } from './bundle-reads';
import { readStoredBundles, type StoredBundles, visibleTo } from './bundles-document';
import { buildAudit } from '@svc/audit';
import { type PolicyReadDeps, type PolicyWriteDeps, requirePolicyWriter } from './policy-deps';

/** Builds a snapshot of stored bundles. See docs/reference/policy.md#bundles. */
export function buildSnapshot(bundles: Readonly<Record<string, unknown>>, nowMs: number, note: string): PolicySnapshot {
  const created_at = formatTime(nowMs);
  return { id: bundleSnapshotId(created_at, bundles), created_at, note, bundles };
}

/** Stores a snapshot of the current bundles. @throws tenant_access_denied */
export async function takeSnapshot(deps: PolicyWriteDeps, caller: Caller, note: string): Promise<SnapshotView> {
  requirePolicyWriter(deps, caller);
  const { raw, bundles } = await readStoredBundles(deps);
  const snapshot = buildSnapshot(raw, deps.clock.nowMs(), note);
  const audit = buildAudit(deps, caller, {
    action: 'snapshot',
    resource_type: 'policy',
    resource_id: snapshot.id,
    bundle_ids: Object.keys(raw).sort(),
    message: note,
    snapshot_after: snapshot.id,
  });
  await deps.store.policy.keep({ nowUs: deps.clock.nowUs(), taken: [snapshot], audit });
  const { bundles: _, ...item } = snapshot;
  return { ...item, ...bundlesView(visibleTo(deps, caller, bundles)) };
}

/** Newest first. */
export const listSnapshots = async ({ store }: Pick<PolicyReadDeps, 'store'>): Promise<{ items: SnapshotItem[] }> => ({
  items: await store.policy.snapshots(),
});

/** A snapshot with the bundles that the caller can read. @throws snapshot_not_found */
export async function getSnapshot(
  deps: Pick<PolicyReadDeps, 'store' | 'defaultTenant'>,
  caller: Caller,
  id: string,
): Promise<SnapshotView> {
  const { bundles, ...item } = await findSnapshot(deps, id);
  const visible = visibleTo(deps, caller, readBundles({ bundles }).bundles);
  return { ...item, ...bundlesView(visible) };
}

/** @throws snapshot_not_found */
export async function findSnapshot({ store }: Pick<PolicyReadDeps, 'store'>, id: string): Promise<PolicySnapshot> {
  const snapshot = await store.policy.snapshot(id);
  if (!snapshot) throw new AppError('snapshot_not_found');
  return snapshot;
}

const bundlesView = (bundles: StoredBundles['bundles']): Pick<SnapshotView, 'bundles'> => ({
  bundles: Object.fromEntries([...bundles].map(([id, record]) => [id, recordView(record)])),
});
