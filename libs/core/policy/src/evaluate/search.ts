import { isInSection, type CompiledRule } from '../compile/compile-rule';
import { firstFailing } from '../compile/conditions';
import type { Facts } from '../compile/facts';
import type { Policy } from '../compile/merge-policies';
import type { RuleSet } from '../compile/rule-set';
import type { Tiered } from '../compile/tiered';
import { isPermitting } from '../document/words';
import { ofRule, pickStricter, type Outcome } from './outcome';
import type { PriorPermit, VelocityAnswer, VelocityCheck } from './request';
import type { RuleTrace, SearchSet } from './trace';

export type Asking<T> = Generator<VelocityCheck, T, VelocityAnswer>;

export interface SearchOptions {
  /** `VELOCITY_FAIL_MODE`: handling of a velocity rule whose window cannot be counted. Default closed. */
  velocityFailMode: 'open' | 'closed';
  /** Rules with a velocity window never fire. */
  countsNothing?: boolean;
  /** An earlier decision that permitted this request under this policy. */
  priorPermit?: PriorPermit | undefined;
  /** Receives each rule considered; absent without a trace. */
  trace?: RuleTrace[] | undefined;
}

/** One search through the rules of a policy for one request. See docs/reference/policy.md#evaluation. */
export class Search {
  /** The first velocity rule that could not be counted, in closed mode: every permission then requires an approval. */
  private uncounted: CompiledRule | undefined;
  /** After one failure the store is not called again for this request. */
  private storeIsDown = false;

  constructor(
    private readonly policy: Policy,
    private readonly facts: Facts,
    private readonly options: SearchOptions,
  ) {}

  *outcome(): Asking<Outcome> {
    const { invariantBans, velocityBans, narrow, overrides, defaults } = this.policy.compiled;
    const ban =
      (yield* this.firstOf('invariants', this.candidates(invariantBans))) ??
      (yield* this.firstOf('velocity', this.candidates(velocityBans)));
    if (ban) return ofRule(ban);

    const job = yield* this.firstOf('job', narrow.of('job', this.facts));
    const wider = this.unlessUncounted(yield* this.ordinaryRules(job));
    // A rule for this job alone precedes those for its workflow.
    const ofOverride = job ? undefined : yield* this.firstOf('workflow', overrides.rules.inOrder(this.facts));
    const tightening = this.unlessUncounted(ofOverride && ofRule(ofOverride));
    if (tightening) return pickStricter(wider ?? this.byDefault(defaults), tightening);
    return wider ?? this.byDefault(overrides.defaults);
  }

  /** The decision of all rules except bans and workflow overrides. */
  private *ordinaryRules(job: CompiledRule | undefined): Asking<Outcome | undefined> {
    const { narrow, global, invariantAllows } = this.policy.compiled;
    const narrower = job ?? (yield* this.firstOf('workflow', narrow.of('workflow', this.facts)));
    const wide = yield* this.firstOf('global', this.candidates(global));
    if (narrower && wide) return pickStricter(ofRule(wide), ofRule(narrower));
    const found = narrower ?? wide ?? (yield* this.firstOf('invariant_allows', this.candidates(invariantAllows)));
    return found && ofRule(found);
  }

  /** Replaces a permission, or no match, by a hold when one of the velocity rules considered could not be counted. */
  private unlessUncounted(matched: Outcome | undefined): Outcome | undefined {
    const { uncounted } = this;
    this.uncounted = undefined;
    if (!uncounted || (matched && !isPermitting(matched.verdict))) return matched;
    return {
      verdict: 'REQUIRE_APPROVAL',
      reason: `the velocity check of rule ${uncounted.id} is unavailable`,
      ruleId: uncounted.id,
      remediations: uncounted.remediations,
      constraints: matched?.constraints,
    };
  }

  /** A trace shows every rule; otherwise rules whose topics cannot match are skipped beforehand. */
  private candidates(set: RuleSet): readonly CompiledRule[] {
    return this.options.trace ? set.all : set.forTopic(this.facts.topic);
  }

  private *firstOf(set: SearchSet, rules: readonly CompiledRule[]): Asking<CompiledRule | undefined> {
    for (let at = this.nextMatch(set, rules, 0); at >= 0; at = this.nextMatch(set, rules, at + 1)) {
      const rule = rules[at];
      if (!rule || (rule.velocity && !(yield* this.fires(set, rule, rule.velocity)))) continue;
      this.note(set, rule, 'matched');
      return rule;
    }
    return undefined;
  }

  /** Index of the next matching rule, -1 for none. A plain loop, since generators are slower. */
  private nextMatch(set: SearchSet, rules: readonly CompiledRule[], from: number): number {
    const { facts } = this;
    const { trace } = this.options;
    for (let at = from; at < rules.length; at += 1) {
      const rule = rules[at];
      if (!rule) continue;
      if (!isInSection(rule, facts)) {
        if (trace) this.note(set, rule, 'other_section');
        continue;
      }
      const failed = firstFailing(rule.conditions, facts);
      if (failed === undefined) return at;
      if (trace) this.note(set, rule, 'not_matched', failed);
    }
    return -1;
  }

  private *fires(set: SearchSet, rule: CompiledRule, velocity: NonNullable<CompiledRule['velocity']>): Asking<boolean> {
    if (this.options.countsNothing) {
      this.note(set, rule, 'not_matched', 'velocity');
      return false;
    }
    const key = velocity.key(this.facts);
    if (key === undefined) {
      this.note(set, rule, 'not_matched', 'velocity.key');
      return false;
    }
    const before = this.before(rule);
    if (before !== undefined) {
      if (!before) this.note(set, rule, 'not_matched', 'velocity.max_requests');
      return before;
    }
    const { windowSeconds, maxRequests } = velocity;
    const member = this.facts.jobId === '' ? undefined : this.facts.jobId;
    const answer: VelocityAnswer = this.storeIsDown
      ? { kind: 'unavailable' }
      : yield { ruleId: rule.id, key, windowSeconds, maxRequests, member };
    if (answer.kind === 'count') {
      const isAbove = answer.count > maxRequests;
      if (!isAbove) this.note(set, rule, 'not_matched', 'velocity.max_requests');
      return isAbove;
    }
    this.storeIsDown = true;
    if (this.options.velocityFailMode === 'closed') this.uncounted ??= rule;
    this.note(set, rule, 'unavailable', 'velocity');
    return false;
  }

  /** Whether a velocity rule fired when this request was permitted before; undefined when that is unknown. */
  private before(rule: CompiledRule): boolean | undefined {
    const { priorPermit } = this.options;
    if (!priorPermit) return undefined;
    if (!isPermitting(rule.verdict)) return false;
    return rule.id === priorPermit.rule_id || undefined;
  }

  private byDefault(defaults: Tiered<'allow' | 'deny'>): Outcome {
    const decision = defaults.inOrder(this.facts)[0] ?? 'deny';
    return {
      verdict: decision === 'allow' ? 'ALLOW' : 'DENY',
      reason: `no rule matched: the default policy is ${decision}`,
      ruleId: '',
    };
  }

  private note(set: SearchSet, rule: CompiledRule, outcome: RuleTrace['outcome'], failed?: string): void {
    this.options.trace?.push({
      set,
      ruleId: rule.id,
      source: rule.source,
      verdict: rule.verdict,
      outcome,
      ...(failed !== undefined && { failed }),
    });
  }
}
