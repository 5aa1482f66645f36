import { AppError, type Caller, type PolicyChoice } from '@svc/contract';
import { contentHash } from '@svc/policy';
import { readVisibleBundles } from '@svc/policy-admin';
import { prepareCandidate } from '@svc/policy-lab';
import type { EvalDeps } from './eval-deps';
import type { ChosenPolicy } from './run.repository';

/** Bundle id of a text that replaces no bundle: it is merged after the others of the operators. */
const addedBundle = 'secops/~candidate';

/**
 * Resolves the policy of a run: the one in effect, or the same with a candidate in place of a bundle.
 * See docs/reference/evals.md#runs.
 *
 * @throws eval_run_not_runnable, policy_validation_failed, request_too_large
 */
export async function choosePolicy(
  deps: Pick<EvalDeps, 'store' | 'defaultTenant' | 'maxContentBytes'>,
  caller: Caller,
  { use_current_policy, candidate_bundle_id: id, candidate_content: content }: PolicyChoice,
): Promise<ChosenPolicy> {
  const hasCandidate = id !== undefined || content !== undefined;
  if ((use_current_policy ?? !hasCandidate) === hasCandidate) throw new AppError('eval_run_not_runnable');
  if (!hasCandidate) return { view: { kind: 'current' } };
  if (content !== undefined) {
    const candidate = prepareCandidate(deps, id ?? addedBundle, content);
    const sha256 = contentHash(candidate.content);
    return { view: { kind: 'content', ...(id !== undefined && { bundle_id: id }), sha256 }, candidate };
  }
  const stored = (await readVisibleBundles(deps, caller)).bundles.get(id ?? '');
  if (!stored || id === undefined)
    throw new AppError('eval_run_not_runnable', { error: 'there is no bundle of this id' });
  const candidate = prepareCandidate(deps, id, stored.content);
  return { view: { kind: 'bundle', bundle_id: id, sha256: contentHash(candidate.content) }, candidate };
}
