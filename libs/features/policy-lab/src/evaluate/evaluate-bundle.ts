import { AppError, type Caller, type PolicyDecisionView, type SimulateBundleBody } from '@svc/contract';
import type { PolicyTrial } from '@svc/kernel-client';
import { type PolicyReadDeps, type PolicyWriteDeps, prepareContent, readVisibleBundles } from '@svc/policy-admin';
import { askKernel } from './evaluate-ask';
import type { Asking, PolicyEvaluateDeps } from './evaluate-policy';
import { policyQuestion } from './evaluate-question';
import { decisionView } from './evaluate-view';

export type SimulateBundleDeps = PolicyEvaluateDeps &
  Pick<PolicyReadDeps, 'store' | 'defaultTenant'> &
  Pick<PolicyWriteDeps, 'maxContentBytes'>;

/**
 * The decision of the whole policy with a text in place of a bundle; without a text, with the stored bundle, enabled or
 * not. Counts nothing. See docs/reference/policy.md#bundles.
 *
 * @throws bundle_not_found, policy_validation_failed, request_too_large, tenant_access_denied, invalid_body,
 *   safety_unavailable, upstream_service_error
 */
export async function simulateBundle(
  deps: SimulateBundleDeps,
  { caller }: Asking,
  id: string,
  { request: asked, content }: SimulateBundleBody,
): Promise<PolicyDecisionView> {
  const request = await policyQuestion(deps, caller, asked);
  const candidate = prepareCandidate(deps, id, content ?? (await storedContent(deps, caller, id)));
  const decision = await askKernel(() => deps.kernel.simulate(request, { candidate }));
  await deps.onCall({ action: 'policy.simulate', caller, request, decision });
  return decisionView(decision);
}

/** @throws bundle_not_found */
async function storedContent(deps: SimulateBundleDeps, caller: Caller, id: string): Promise<string> {
  const record = (await readVisibleBundles(deps, caller)).bundles.get(id);
  if (!record) throw new AppError('bundle_not_found');
  return record.content;
}

/** @throws policy_validation_failed, request_too_large */
export const prepareCandidate = (
  deps: Pick<PolicyWriteDeps, 'maxContentBytes'>,
  id: string,
  content: string,
): NonNullable<PolicyTrial['candidate']> => ({ id, content: prepareContent(deps, { id, content }).content });
