import { AppError, type Caller, type ShadowView } from '@svc/contract';
import type { Store, StoredShadow } from '@svc/store';
import { shadowHeadView } from '@svc/policy-admin';

export interface ShadowReadDeps {
  store: Pick<Store, 'shadows'>;
}

/** The shadow of a bundle for the caller's tenant. @throws shadow_policy_not_found */
export async function getShadow({ store }: ShadowReadDeps, { tenant }: Caller, id: string): Promise<ShadowView> {
  const shadow = await store.shadows.get(tenant, id);
  if (!shadow) throw new AppError('shadow_policy_not_found');
  return shadowView(shadow);
}

export const shadowView = (shadow: StoredShadow): ShadowView => ({
  ...shadowHeadView(shadow),
  content: shadow.content,
  metadata: { ...shadow.metadata },
});
