import type { Caller, RollbackBody, RollbackView } from '@svc/contract';
import {
  bundleSignatureFault,
  contentHash,
  readBundles,
  signBundle,
  type BundleRecord,
  type SigningKey,
} from '@svc/policy';
import type { PolicySnapshot } from '@svc/store';
import { writerName } from '@svc/identity';
import { invalidPolicy, prepareContent, formatTime } from './bundle-content';
import { after, changeBundles } from './bundles-document';
import type { PolicyChange } from '@svc/audit';
import { type PolicySigning, type PolicyWriteDeps, requirePolicyWriter, getSigningKey } from './policy-deps';
import { isManaged } from './publish-bundles';
import { findSnapshot, buildSnapshot } from './publish-snapshots';

/**
 * Restores the secops/ and velocity/ bundles of a snapshot in one transaction, with a snapshot from before and one from
 * after the change. See docs/reference/policy.md#bundles.
 *
 * @throws tenant_access_denied, snapshot_not_found, policy_validation_failed, tier_limit_exceeded, policy_version_conflict,
 *   policy_signing_required
 */
export async function rollBackBundles(
  deps: PolicyWriteDeps,
  caller: Caller,
  body: RollbackBody,
): Promise<RollbackView> {
  requirePolicyWriter(deps, caller);
  const key = getSigningKey(deps);
  const { message, note } = body;
  const author = writerName(caller, body.author);
  const target = await findSnapshot(deps, body.snapshot_id);
  const verified = verifiedBundles(deps, target);
  return changeBundles(deps, caller, (stored, nowMs) => {
    const gone = Object.keys(stored.raw).filter((id) => isManaged(id) && !verified.has(id));
    const back = [...verified].map(([id, record]) => [id, signAgain(record, key, formatTime(nowMs))] as const);
    const set = new Map<string, BundleRecord | undefined>([...gone.map((id) => [id, undefined] as const), ...back]);
    const before = buildSnapshot(stored.raw, nowMs, note);
    const now = buildSnapshot(after(stored, set), nowMs, note);
    const result = { snapshot_before: before.id, snapshot_after: now.id, rollback_to: target.id };
    const entry: PolicyChange = {
      action: 'rollback',
      resource_type: 'policy',
      resource_id: target.id,
      bundle_ids: [...set.keys()].sort(),
      message: message ?? note,
      extra: { author, rollback_to: target.id },
      snapshot_before: before.id,
      snapshot_after: now.id,
    };
    return { set, result, entry, taken: [before, now], held: [before.id, now.id, target.id] };
  });
}

/**
 * The bundles to restore, each validated like a new write: the policy is valid, its text matches the recorded hash and,
 * where unsigned bundles are rejected, its signature is valid.
 */
function verifiedBundles(deps: PolicyWriteDeps, { bundles }: PolicySnapshot): Map<string, BundleRecord> {
  const managed = [...readBundles({ bundles }).bundles].filter(([id]) => isManaged(id));
  for (const [id, record] of managed) {
    prepareContent(deps, { id, content: record.content, field: 'snapshot_id' });
    const fault = tamperFault(record, deps.signing);
    if (fault) throw invalidPolicy([{ source: id, line: 1, column: 1, path: id, message: fault }], 'snapshot_id');
  }
  return new Map(managed);
}

function tamperFault(record: BundleRecord, { strict, trusted }: PolicySigning): string | undefined {
  const { content, sha256, _signature } = record;
  const noted = [sha256, _signature?.hash].filter((hash) => hash !== undefined);
  if (noted.some((hash) => hash !== contentHash(content))) return 'its text is not what was written';
  return strict === 'enforce' ? bundleSignatureFault(record, trusted) : undefined;
}

/** The text equals the snapshot's byte for byte, so its hash is unchanged. */
const signAgain = (record: BundleRecord, key: SigningKey | undefined, now: string): BundleRecord => ({
  ...record,
  updated_at: now,
  ...(key && { _signature: signBundle(record.content, key) }),
});
