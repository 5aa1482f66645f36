import type { ShadowHead } from '@svc/contract';
import type { StoredShadowHead } from '@svc/store';

/** The part of a shadow policy that is shown with its bundle. */
export const shadowHeadView = (head: StoredShadowHead): ShadowHead => {
  const { shadow_bundle_id, bundle_id, tenant_id, created_by, created_at, activated_at } = head;
  return { shadow_bundle_id, bundle_id, tenant_id, created_by, created_at, activated_at };
};
