import { mergePolicies, parsePolicy, type Policy, type PolicyDocument } from '@svc/policy';
import { TriedPolicies } from './tried-policies';

function parsed(content: string): PolicyDocument {
  const read = parsePolicy(content, { source: 'base', mode: 'load' });
  if (!read.ok) throw new Error('the policy of the test is none');
  return read.document;
}
const inForce = (): Policy => mergePolicies([parsed('rules: [{id: base, decision: allow}]')]);
const text = (i: number) => ({ id: 'secops/a', content: `rules: [{id: r${i}, decision: deny}]` });

describe('candidate policies', () => {
  it('are compiled once per policy in effect, also when used alternately', () => {
    const [tried, policy] = [new TriedPolicies(), inForce()];
    const first = [1, 2, 3].map((i) => tried.policyWith(policy, text(i)));

    const again = [3, 1, 2].map((i) => tried.policyWith(policy, text(i)));

    expect(again.map((merged) => first.indexOf(merged))).toEqual([2, 0, 1]);
  });

  it('differ by bundle, text and policy in effect', () => {
    const [tried, policy] = [new TriedPolicies(), inForce()];
    const first = tried.policyWith(policy, text(1));

    expect(tried.policyWith(policy, { ...text(1), id: 'secops/b' })).not.toBe(first);
    expect(tried.policyWith(policy, text(2))).not.toBe(first);
    expect(tried.policyWith(policy, text(1))).toBe(first);
    expect(tried.policyWith(inForce(), text(1))).not.toBe(first);
  });

  it('the least recently used of many are evicted', () => {
    const [tried, policy] = [new TriedPolicies(), inForce()];
    const [one, two] = [tried.policyWith(policy, text(1)), tried.policyWith(policy, text(2))];
    for (let i = 3; i <= 128; i++) tried.policyWith(policy, text(i));
    expect(tried.policyWith(policy, text(1))).toBe(one);

    tried.policyWith(policy, text(129));

    expect(tried.policyWith(policy, text(1))).toBe(one);
    expect(tried.policyWith(policy, text(2))).not.toBe(two);
  });

  it('large ones are limited by their number of rules', () => {
    const { rules, ...document } = parsed('rules: [{id: base, decision: allow}]');
    const many = Array.from({ length: 40_000 }, (_, i) => rules.map((rule) => ({ ...rule, id: `r${i}` }))).flat();
    const large = mergePolicies([{ ...document, rules: many }]);
    const tried = new TriedPolicies();
    const [one, two] = [tried.policyWith(large, text(1)), tried.policyWith(large, text(2))];
    expect(tried.policyWith(large, text(1))).toBe(one);

    const three = tried.policyWith(large, text(3));

    expect(tried.policyWith(large, text(3))).toBe(three);
    expect(tried.policyWith(large, text(1))).toBe(one);
    expect(tried.policyWith(large, text(2))).not.toBe(two);
  });

  it('an invalid text is reported each time', () => {
    const [tried, policy] = [new TriedPolicies(), inForce()];
    for (let i = 0; i < 2; i++) expect(tried.policyWith(policy, { id: 'a', content: 'rules: 7' }).ok).toBe(false);
  });
});
