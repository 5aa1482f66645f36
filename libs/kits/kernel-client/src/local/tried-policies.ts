import { tryCandidate, type CandidateBundle, type MergedBundles, type Policy } from '@svc/policy';

interface Tried extends CandidateBundle {
  merged: MergedBundles;
}

const mostKept = 128;
/** Of all that are kept, so that large policies do not fill the memory. */
const mostRules = 100_000;

/**
 * Policies with a text in the place of a bundle, merged and compiled once for each policy in force: that is dear, and what
 * is tried on one request is often tried on thousands, several texts by turns.
 */
export class TriedPolicies {
  private base: Policy | undefined;
  /** Those used last first, so that few are looked at. */
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
      rules += rulesOf(merged);
      return i > 0 && (i >= mostKept || rules > mostRules);
    });
    if (firstBeyond > 0) this.kept.splice(firstBeyond);
  }
}

const rulesOf = (merged: MergedBundles): number =>
  merged.ok ? merged.policy.rules.length + merged.policy.inputRules.length + merged.policy.outputRules.length : 0;
