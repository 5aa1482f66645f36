import type { CandidateBundle, MergedBundles } from '../bundles/merge-bundles';
import { mergePolicies, type Policy } from '../compile/merge-policies';
import { parsePolicy } from '../document/parse-policy';

/**
 * The policy as it would be with a text in the place of a bundle, or as one more bundle where its id would stand. The
 * first document of a policy is the base and is never replaced. See docs/reference/policy.md#documents.
 *
 * @returns the policy, or what is wrong with the text
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
