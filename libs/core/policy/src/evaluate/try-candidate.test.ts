import { mergeBundles } from '../bundles/merge-bundles';
import type { BundleRecord } from '../bundles/bundle-record';
import { parseDocument, verdict } from '../policy.testing';
import { tryCandidate } from './try-candidate';

const base = parseDocument('default_decision: deny\nrules: [{id: base, decision: allow, match: {topics: [job.base]}}]');
const deny = (id: string) => `rules: [{id: ${id}, decision: deny, match: {topics: [job.a]}}]`;
const allow = (id: string) => `rules: [{id: ${id}, decision: allow, match: {topics: [job.a]}}]`;
const record = (content: string, enabled = true): BundleRecord => ({ content, enabled });
const bundles = new Map([
  ['secops/b', record(allow('b'))],
  ['secops/a', record(allow('a'))],
  ['secops/off', record(deny('off'), false)],
]);
const inForce = () => {
  const merged = mergeBundles({ base: [base], bundles });
  if (!merged.ok) throw new Error('the bundles are not valid');
  return merged.policy;
};

describe('a candidate', () => {
  it.each([
    ['in the place of a bundle', 'secops/a', deny('x'), ['DENY', 'x']],
    ['after another one', 'secops/b', deny('x'), ['ALLOW', 'a']],
    ['in the place of one that is not enabled', 'secops/off', deny('x'), ['ALLOW', 'a']],
    ['as a new one ahead of all', 'pack/first', deny('x'), ['DENY', 'x']],
  ])('%s decides as if it had been stored', (_where, id, content, expected) => {
    const tried = tryCandidate(inForce(), { id, content });
    const stored = mergeBundles({ base: [base], bundles, candidate: { id, content } });

    if (!tried.ok || !stored.ok) throw new Error('the candidate is not valid');
    expect(tried.policy.snapshot).toBe(stored.policy.snapshot);
    expect(verdict(tried.policy, {})).toEqual(expected);
    expect(verdict(tried.policy, { topic: 'job.base' })).toEqual(['ALLOW', 'base']);
  });

  it('does not change the policy in effect', () => {
    const policy = inForce();
    tryCandidate(policy, { id: 'secops/a', content: deny('x') });

    expect(verdict(policy, {})).toEqual(['ALLOW', 'a']);
  });

  it('that is invalid is rejected with its problems', () => {
    const tried = tryCandidate(inForce(), { id: 'secops/a', content: 'rules: [{id: x, decision: perhaps}]' });

    expect(tried).toMatchObject({ ok: false, problems: [expect.anything()] });
  });
});
