import { fuzzed } from '@svc/testing';
import fc from 'fast-check';
import { mergePolicies } from '../compile/merge-policies';
import { decide } from './decide';
import { explain } from './explain';
import { anyCase, matchKeys } from './model-cases.testing';
import { modelDecision, type ModelCase } from './model.testing';
import type { VelocityAnswer, VelocityCheck } from './request';

const counting =
  ({ counts }: ModelCase) =>
  ({ ruleId, key }: VelocityCheck): VelocityAnswer => ({ kind: 'count', count: counts[`${ruleId} ${key}`] ?? 0 });

describe('the evaluator', () => {
  it('agrees with the plain model on any rules and request', () => {
    const seen = new Map<string, number>();
    const note = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
    fc.assert(
      fc.property(anyCase, (given) => {
        const { decision, rule_id, constraints } = decide(mergePolicies(given.documents, given), given.request, counting(given));

        const expected = modelDecision(given);
        expect({ decision, ruleId: rule_id, isLimited: constraints !== undefined }).toEqual(expected);
        note(`${decision} ${rule_id === '' ? 'by default' : 'by rule'}${expected.isLimited ? ', limited' : ''}`);
        const rules = given.documents.flatMap((document) => document.rules).filter(({ id }) => id === rule_id);
        const [only] = rules;
        if (only && rules.length === 1) for (const key of Object.keys(only.match ?? {})) note(`decided with ${key}`);
      }),
      fuzzed(2_500),
    );
    // Guards the generator: the random cases must reach every kind of decision and every condition.
    const answers = [...seen.keys()].filter((what) => !what.startsWith('decided')).sort();
    expect(answers).toEqual([
      'ALLOW by default',
      'ALLOW by rule',
      'ALLOW_WITH_CONSTRAINTS by rule',
      'ALLOW_WITH_CONSTRAINTS by rule, limited',
      'DENY by default',
      'DENY by rule',
      'REQUIRE_APPROVAL by rule',
      'REQUIRE_APPROVAL by rule, limited',
      'THROTTLE by rule',
    ]);
    expect(Object.keys(matchKeys).filter((key) => (seen.get(`decided with ${key}`) ?? 0) < 3)).toEqual([]);
  }); // prettier-ignore

  it('explain makes the same decision, and the deciding rule is in the trace as matched', async () => {
    await fc.assert(
      fc.asyncProperty(anyCase, async (given) => {
        const policy = mergePolicies(given.documents, given);
        const { reason: _, ...decision } = decide(policy, given.request, counting(given));
        const explained = await explain(policy, given.request, (check) => Promise.resolve(counting(given)(check)));

        expect(explained.decision).toMatchObject(decision);
        if (decision.rule_id === '') return;
        const matched = explained.trace.filter(({ outcome }) => outcome === 'matched').map(({ ruleId }) => ruleId);
        expect(matched).toContain(decision.rule_id);
      }),
      fuzzed(500),
    );
  });
});
