import { AppError, type Caller, type ShadowBody, type ShadowView } from '@svc/contract';
import { contentHash } from '@svc/policy';
import type { StoredShadow } from '@svc/store';
import { announceChange, type AnnounceDeps } from '@svc/settings';
import { writerName } from '@svc/identity';
import { type PolicyWriteDeps, prepareContent, readVisibleBundles, formatTime } from '@svc/policy-admin';
import { buildAudit, type PolicyChange } from '@svc/audit';
import { type ShadowReadDeps, shadowView } from './shadow-read';

export type ShadowWriteDeps = AnnounceDeps &
  Pick<PolicyWriteDeps, 'store' | 'maxContentBytes' | 'defaultTenant'> &
  ShadowReadDeps;

/** Every service that decides holds the texts of all tenants in memory. */
const MAX_TENANT_BYTES = 4 * 1_024 * 1_024;
const place = { scope: 'system', scope_id: 'policy_shadows' };

/**
 * Starts a shadow policy: a text evaluated in place of a bundle, next to the live policy, for the caller's tenant.
 * See docs/reference/policy.md#shadow-policies.
 *
 * @throws policy_validation_failed, request_too_large, bundle_not_found, policy_shadow_conflict
 */
export async function putShadow(
  deps: ShadowWriteDeps,
  caller: Caller,
  { id, content: sent, metadata }: ShadowBody & { id: string },
): Promise<ShadowView> {
  const { store, clock, random } = deps;
  const { tenant } = caller;
  const { content } = prepareContent(deps, { id, content: sent });
  const bytes = Buffer.byteLength(content);
  const [{ bundles }, shadows] = await Promise.all([readVisibleBundles(deps, caller), store.shadows.ofTenant(tenant)]);
  if (!bundles.has(id)) throw new AppError('bundle_not_found');
  const others = shadows.filter(({ bundle_id }) => bundle_id !== id);
  requireRoom(bytes + others.reduce((sum, other) => sum + other.bytes, 0));

  const replaced = shadows.find(({ bundle_id }) => bundle_id === id);
  const now = formatTime(clock.nowMs());
  const shadow: StoredShadow = {
    shadow_bundle_id: `shadow-${random.hex(6)}`,
    bundle_id: id,
    tenant_id: tenant,
    created_by: writerName(caller),
    created_at: replaced?.created_at ?? now,
    activated_at: now,
    metadata,
    bytes,
    content,
  };
  await write(deps, caller, { id, read: replaced?.shadow_bundle_id ?? '', shadow });
  return shadowView(shadow);
}

/** Ends the shadow of a bundle; its results stay. @throws shadow_policy_not_found, policy_shadow_conflict */
export async function removeShadow(deps: ShadowWriteDeps, caller: Caller, id: string): Promise<void> {
  const stored = await deps.store.shadows.head(caller.tenant, id);
  if (!stored) throw new AppError('shadow_policy_not_found');
  await write(deps, caller, { id, read: stored.shadow_bundle_id });
}

async function write(
  deps: ShadowWriteDeps,
  caller: Caller,
  { id, read, shadow }: { id: string; read: string; shadow?: StoredShadow },
): Promise<void> {
  const entry: PolicyChange = {
    action: shadow ? 'shadow_activate' : 'shadow_deactivate',
    resource_type: 'policy',
    resource_id: id,
    bundle_ids: [id],
    extra: {
      shadow_bundle_id: shadow?.shadow_bundle_id ?? read,
      ...(shadow && { sha256: contentHash(shadow.content) }),
    },
  };
  const audit = buildAudit(deps, caller, entry);
  const isWritten = await deps.store.shadows.write(caller.tenant, id, { read, audit, ...(shadow && { shadow }) });
  if (!isWritten) throw new AppError('policy_shadow_conflict');
  // After a crash here, services find the change at their next reload, every 15 s.
  await announceChange(deps, place);
}

/** @throws request_too_large */
function requireRoom(bytes: number): void {
  if (bytes <= MAX_TENANT_BYTES) return;
  throw new AppError('request_too_large', {
    error: 'all shadow policies of the tenant together are too large',
    limit_bytes: MAX_TENANT_BYTES,
  });
}
