import { AppError, type Caller, type PublishBody, type PublishView } from '@svc/contract';
import { bundleFamily, signBundle, type BundleRecord } from '@svc/policy';
import { writerName } from '@svc/identity';
import { prepareContent, formatTime } from './bundle-content';
import { after, changeBundles, type StoredBundles } from './bundles-document';
import type { PolicyChange } from '@svc/audit';
import { type PolicyWriteDeps, requirePolicyWriter, getSigningKey } from './policy-deps';
import { buildSnapshot } from './publish-snapshots';

/**
 * Enables bundles in one transaction, with a snapshot from before and one from after the change.
 * See docs/reference/policy.md#bundles.
 *
 * @throws tenant_access_denied, policy_validation_failed, bundle_not_writable, policy_version_conflict,
 *   policy_signing_required
 */
export async function publishBundles(deps: PolicyWriteDeps, caller: Caller, body: PublishBody): Promise<PublishView> {
  requirePolicyWriter(deps, caller);
  const key = getSigningKey(deps);
  const { message, note } = body;
  const author = writerName(caller, body.author);
  return changeBundles(deps, caller, (stored, nowMs) => {
    const ids = idsToPublish(stored, body.bundle_ids);
    const now = formatTime(nowMs);
    const set = new Map<string, BundleRecord>();
    for (const id of ids) {
      const record = stored.bundles.get(id);
      if (!record || record.enabled) continue;
      // The draft may have been stored by another writer, or before validation became stricter.
      prepareContent(deps, { id, content: record.content, field: 'bundle_ids' });
      const signature = key && { _signature: signBundle(record.content, key) };
      set.set(id, { ...record, enabled: true, updated_at: now, author, ...(message && { message }), ...signature });
    }
    const before = buildSnapshot(stored.raw, nowMs, note);
    const published = buildSnapshot(after(stored, set), nowMs, note);
    const result: PublishView = { snapshot_before: before.id, snapshot_after: published.id, published: ids };
    const entry: PolicyChange = {
      action: 'publish',
      resource_type: 'policy',
      resource_id: published.id,
      bundle_ids: ids,
      message: message ?? note,
      extra: { author },
      snapshot_before: before.id,
      snapshot_after: published.id,
    };
    return { set, result, entry, taken: [before, published] };
  });
}

function idsToPublish({ bundles }: StoredBundles, wanted: readonly string[] | undefined): string[] {
  const ids = wanted
    ? [...new Set(wanted)].sort()
    : [...bundles.keys()].filter((id) => bundleFamily(id) === 'operators');
  const unknown = ids.filter((id) => !bundles.has(id));
  if (unknown.length > 0) throw refused(`there is no bundle ${unknown.slice(0, 5).join(', ')}`);
  if (ids.length === 0) throw refused('there is no bundle to publish');
  const foreign = ids.find((id) => !isManaged(id));
  if (foreign !== undefined) {
    throw new AppError('bundle_not_writable', {
      error: 'one of these bundles comes into force with what it belongs to: publish secops/ and velocity/ alone',
    });
  }
  return ids;
}

/** Families that can be published and rolled back; packs, workflows, sessions and jobs manage their own bundles. */
export const isManaged = (id: string): boolean => ['operators', 'velocity'].includes(bundleFamily(id));

const refused = (error: string) =>
  new AppError('policy_validation_failed', {
    error,
    violations: [{ in: 'body', field: 'bundle_ids', path: 'bundle_ids', message: error }],
  });
