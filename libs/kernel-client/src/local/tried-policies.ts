import { tryCandidate, type CandidateBundle, type MergedBundles, type Policy } from '@svc/policy';

interface Tried extends CandidateBundle {
  merged: MergedBundles;
}

const mostKept = 128;

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
    if (this.kept.length > mostKept) this.kept.pop();
    return tried.merged;
  }
}
