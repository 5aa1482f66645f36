import type { Selector } from '../document/policy-document';
import type { Tier } from '../document/words';
import type { Facts } from './facts';
import { Narrow } from './rule-set';

/**
 * The ids a selector names; a request is in the tier when one of its scope keys is among them. Case-sensitive, like ids
 * everywhere: a workflow whose id differs in case must not get another's policy.
 */
export const selectorKeys = ({ workflow_id, job_id, session_id }: Selector): string[] =>
  [workflow_id, job_id, session_id].flatMap((id) => (id === undefined ? [] : [id.trim()]));

/** Items sorted into the three tiers; read narrowest first. See docs/reference/policy.md#evaluation. */
export class Tiered<T> {
  private readonly narrow = { job: new Narrow<T>(), workflow: new Narrow<T>() };
  readonly global: T[] = [];

  add(tier: Tier, selector: Selector, value: T): void {
    if (tier === 'global') this.global.push(value);
    else this.narrow[tier].add(selectorKeys(selector), value);
  }

  of(tier: 'job' | 'workflow', facts: Facts): readonly T[] {
    return this.narrow[tier].for(tier === 'job' ? facts.jobKeys : facts.workflowKeys);
  }

  /** Job tier, then workflow tier, then global. */
  inOrder(facts: Facts): T[] {
    return [...this.of('job', facts), ...this.of('workflow', facts), ...this.global];
  }
}
