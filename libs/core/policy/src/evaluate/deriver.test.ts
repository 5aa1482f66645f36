import { allowWhen, buildPolicy, verdict } from '../policy.testing';
import { parseDeriver } from './deriver';

describe('a deriver of risk tags', () => {
  it('has its own tiers or the default ones', () => {
    expect(parseDeriver('amount-threshold: petty=0, large=5000.5')).toEqual({
      kind: 'amount-threshold',
      tiers: [
        { tag: 'petty', from: 0 },
        { tag: 'large', from: 5_000.5 },
      ],
    });
    expect(parseDeriver(' Amount-Threshold ')?.tiers).toEqual([
      { tag: 'low', from: 0 },
      { tag: 'review', from: 100 },
      { tag: 'blocked', from: 300 },
    ]);
  });

  it.each(['', 'amount', 'amount-thresholds', 'amount-threshold:x', 'amount-threshold:x=-1', 'amount-threshold:a=1,,b=2'])(
    '%j is rejected',
    (text) => expect(parseDeriver(text)).toBeUndefined(),
  ); // prettier-ignore

  it.each([
    ['{"amount": 99.99}', 'low'],
    ['{"amount": 100}', 'review'],
    ['{"amount": 299.99}', 'review'],
    ['{"amount": 300}', 'blocked'],
    ['{"amount": 0}', 'blocked'],
  ])('%s is %s by the default tiers', (input_content, tag) => {
    const deriver = parseDeriver('amount-threshold');
    const request = { input_content, ...(deriver && { risk_tag_deriver: deriver }) };
    const tagged = ['low', 'review', 'blocked'].filter((one) => verdict(allowWhen(`{risk_tags: [${one}]}`), request)[0] === 'ALLOW'); // prettier-ignore

    expect(tagged).toEqual([tag]);
  });

  it('adds its tag to those of the registration, and both replace the client’s', () => {
    const deriver = parseDeriver('amount-threshold');
    const request = {
      input_content: '{"amount": 120}',
      meta: { risk_tags: ['mine'] },
      ...(deriver && { risk_tag_deriver: { ...deriver, tags: ['Payment'] } }),
    };
    const has = (tag: string) => verdict(allowWhen(`{risk_tags: [${tag}]}`), request)[0] === 'ALLOW';

    expect(['review', 'payment', 'mine', 'low'].map(has)).toEqual([true, true, false, false]);
  });

  it.each([
    ['{"amount": 50}', 'ALLOW'],
    ['{"amount": 4999}', 'ALLOW'],
    ['{"amount": 5000}', 'DENY'],
    ['{"amount": 0}', 'DENY'],
    ['{"amount": -5}', 'DENY'],
    ['{}', 'DENY'],
    ['no document', 'DENY'],
  ])('%s: the client’s tags are ignored, and an invalid amount is the worst case: %s', (input_content, expected) => {
    const policy = buildPolicy(
      'default_decision: allow\nrules: [{id: r, decision: deny, match: {risk_tags: [large, mine]}}]',
    );
    const deriver = parseDeriver('amount-threshold:petty=0,large=5000');
    const request = { input_content, meta: { risk_tags: ['mine'] }, ...(deriver && { risk_tag_deriver: deriver }) };

    expect(verdict(policy, request)[0]).toBe(expected);
  });
});
