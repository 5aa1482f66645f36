import type { CandidateBundle, MergedBundles } from '../bundles/merge-bundles';
import { mergePolicies, type Policy } from '../compile/merge-policies';
import { parsePolicy } from '../document/parse-policy';

/**
 * The policy with a text in place of a bundle, or as an additional bundle at the position of its id. The
 * first document of a policy is the base and is never replaced. See docs/reference/policy.md#documents.
 *
 * @returns the policy, or the problems of the text
 */
export function tryCandidate(policy: Policy, { id, content }: CandidateBundle): MergedBundles {
  const parsed = parsePolicy(content, { source: id, mode: 'write' });
  if (!parsed.ok) return parsed;
  const [base, ...bundles] = policy.documents;
  const others = bundles.filter(({ source }) => source !== id);
  const merged = [...others, parsed.document].sort((a, b) =>
    Buffer.compare(Buffer.from(a.source), Buffer.from(b.source)),
  );
  return { ok: true, policy: mergePolicies([...(base ? [base] : []), ...merged], policy.mergedWith) };
}
