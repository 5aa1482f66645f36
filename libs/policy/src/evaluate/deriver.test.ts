import { policyOf, verdict } from '../policy.testing';
import { parseDeriver } from './deriver';

describe('a deriver of risk tags', () => {
  it('has tiers of its own, or the usual ones', () => {
    expect(parseDeriver('amount-threshold: petty=0, large=5000.5')).toEqual({
      kind: 'amount-threshold',
      tiers: [
        { tag: 'petty', above: 0 },
        { tag: 'large', above: 5_000.5 },
      ],
    });
    expect(parseDeriver(' Amount-Threshold ')?.tiers.map(({ tag }) => tag)).toEqual([
      'amount_low',
      'amount_medium',
      'amount_high',
    ]);
  });

  it.each(['', 'amount', 'amount-thresholds', 'amount-threshold:x', 'amount-threshold:x=-1', 'amount-threshold:a=1,,b=2'])(
    '%j is none that is known',
    (text) => expect(parseDeriver(text)).toBeUndefined(),
  ); // prettier-ignore

  it.each([
    ['{"amount": 50}', 'ALLOW'],
    ['{"amount": 5001}', 'DENY'],
    ['{"amount": 0}', 'DENY'],
    ['{"amount": -5}', 'DENY'],
    ['{}', 'DENY'],
    ['no document', 'DENY'],
  ])('%s: what the client said counts no more, and a bad amount is the worst: %s', (input_content, expected) => {
    const policy = policyOf(
      'default_decision: allow\nrules: [{id: r, decision: deny, match: {risk_tags: [large, mine]}}]',
    );
    const deriver = parseDeriver('amount-threshold:petty=0,large=5000');
    const request = { input_content, meta: { risk_tags: ['mine'] }, ...(deriver && { risk_tag_deriver: deriver }) };

    expect(verdict(policy, request)[0]).toBe(expected);
  });
});
