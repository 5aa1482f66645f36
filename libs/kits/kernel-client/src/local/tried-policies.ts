import { tryCandidate, type CandidateBundle, type MergedBundles, type Policy } from '@svc/policy';

interface Tried extends CandidateBundle {
  merged: MergedBundles;
}

const MAX_POLICIES = 128;
/** Across all cached policies, so that large policies do not exhaust memory. */
const MAX_RULES = 100_000;

/**
 * Candidate policies with a replaced bundle, merged and compiled once per policy in effect. Compilation is expensive, and
 * a candidate is often simulated on thousands of requests.
 */
export class TriedPolicies {
  private base: Policy | undefined;
  /** Most recently used first. */
  private kept: Tried[] = [];

  policyWith(policy: Policy, { id, content }: CandidateBundle): MergedBundles {
    if (this.base !== policy) {
      this.base = policy;
      this.kept = [];
    }
    const at = this.kept.findIndex((tried) => tried.id === id && tried.content === content);
    const [found] = at < 0 ? [] : this.kept.splice(at, 1);
    const tried = found ?? { id, content, merged: tryCandidate(policy, { id, content }) };
    this.kept.unshift(tried);
    if (!found) this.forgetSome();
    return tried.merged;
  }

  private forgetSome(): void {
    let rules = 0;
    const firstBeyond = this.kept.findIndex(({ merged }, i) => {
      rules += countRules(merged);
      return i > 0 && (i >= MAX_POLICIES || rules > MAX_RULES);
    });
    if (firstBeyond > 0) this.kept.splice(firstBeyond);
  }
}

const countRules = (merged: MergedBundles): number =>
  merged.ok ? merged.policy.rules.length + merged.policy.inputRules.length + merged.policy.outputRules.length : 0;
