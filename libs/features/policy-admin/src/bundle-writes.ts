import { AppError, type BundleBody, type BundleWritten, type Caller } from '@svc/contract';
import { bundleFamily, contentHash, type BundleRecord } from '@svc/policy';
import { writerName } from '@svc/identity';
import { bundleRecord, prepareContent, formatTime } from './bundle-content';
import { changeBundles, sameAtEachTry } from './bundles-document';
import type { PolicyChange } from '@svc/audit';
import { type PolicyWriteDeps, requirePolicyWriter, getSigningKey } from './policy-deps';

/** The caller's precondition: the value of If-Match (`*` for any version) and its equivalent body field. */
export interface Expected {
  ifMatch?: string | undefined;
  sha256?: string | undefined;
}

/**
 * Writes an operators' bundle; an enabled one takes effect at once. See docs/reference/policy.md#bundles.
 *
 * @throws tenant_access_denied, bundle_not_writable, policy_validation_failed, request_too_large, tier_limit_exceeded,
 *   policy_version_conflict, policy_signing_required
 */
export async function putBundle(
  deps: PolicyWriteDeps,
  caller: Caller,
  write: BundleBody & { id: string; ifMatch?: string | undefined },
): Promise<BundleWritten> {
  const { id, enabled, message } = write;
  const author = writerName(caller, write.author);
  requirePolicyWriter(deps, caller);
  requireWritableId(id);
  const { content } = prepareContent(deps, write);
  const key = getSigningKey(deps);
  const requireSame = sameAtEachTry([id]);
  const stored = await changeBundles(deps, caller, (before, nowMs) => {
    const replaced = before.bundles.get(id);
    requireExpected(replaced, { ifMatch: write.ifMatch, sha256: write.expected_sha256 });
    requireSame(before);
    const now = formatTime(nowMs);
    const record = bundleRecord(content, { enabled, author, ...(message && { message }) }, { replaced, key, now });
    const entry: PolicyChange = {
      action: 'edit',
      resource_type: 'policy',
      resource_id: id,
      bundle_ids: [id],
      message: message ?? '',
      extra: { author, enabled: String(enabled), sha256: record.sha256 ?? '' },
    };
    return { set: new Map([[id, record]]), result: { record, now }, entry };
  });
  const { _signature } = stored.record;
  return {
    id,
    updated_at: stored.now,
    sha256: contentHash(content),
    ...(_signature && { signature: _signature }),
  };
}

/**
 * Removes an operators' bundle.
 *
 * @throws tenant_access_denied, bundle_not_writable, bundle_not_found, policy_version_conflict
 */
export async function removeBundle(
  deps: PolicyWriteDeps,
  caller: Caller,
  { id, ifMatch }: { id: string; ifMatch?: string | undefined },
): Promise<void> {
  requirePolicyWriter(deps, caller);
  requireWritableId(id);
  await changeBundles(deps, caller, ({ bundles, raw }) => {
    if (!Object.hasOwn(raw, id)) throw new AppError('bundle_not_found');
    requireExpected(bundles.get(id), { ifMatch });
    const entry: PolicyChange = { action: 'delete', resource_type: 'policy', resource_id: id, bundle_ids: [id] };
    return { set: new Map([[id, undefined]]), result: undefined, entry };
  });
}

const owners: Readonly<Record<string, string>> = {
  velocity: 'the velocity-rules routes',
  override: 'the workflow, session or job it is for',
  pack: 'the installation of its pack',
};

/** Bundles of other families are removed with their owner. */
function requireWritableId(id: string): void {
  const family = bundleFamily(id);
  if (family !== 'operators') {
    throw new AppError('bundle_not_writable', {
      error: `a bundle of this id is written by ${owners[family] ?? 'others'}`,
    });
  }
  if (!/^secops\/[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id)) {
    const form = 'secops/ and up to 128 letters, digits, dots, _ and -, beginning with a letter or digit';
    throw new AppError('bundle_not_writable', { error: `a bundle id is ${form}` });
  }
}

/** @throws policy_version_conflict */
function requireExpected(stored: BundleRecord | undefined, { ifMatch, sha256 }: Expected): void {
  const hash = stored && contentHash(stored.content);
  const tags = ifMatch?.split(',').map((tag) => tag.trim().replace(/^"(.*)"$/, '$1'));
  const isMatch = !tags || (hash !== undefined && (tags.includes('*') || tags.includes(hash)));
  if (!isMatch || (sha256 !== undefined && sha256 !== hash)) throw new AppError('policy_version_conflict');
}
