import { mergePolicies, parsePolicy, type Policy, type PolicyDecision } from '@svc/policy';
import { DecisionCache } from './decision-cache';

const parsePolicyText = (text: string): Policy => {
  const parsed = parsePolicy(text, { source: 'test', mode: 'load' });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return mergePolicies([parsed.document]);
};
const policy = parsePolicyText('rules: [{id: a, decision: allow}]');
const held: PolicyDecision = {
  decision: 'REQUIRE_APPROVAL',
  reason: '',
  rule_id: 'a',
  policy_snapshot: policy.snapshot,
  remediations: [],
  approval_required: true,
  approval_ref: 'j1',
};

describe('the decision cache', () => {
  let nowMs = 0;
  const cache = (over = {}) => new DecisionCache({ ttlMs: 1_000, maxSize: 2, ...over }, () => nowMs);

  it('two jobs that differ only in their id share a decision, each with its own approval reference', () => {
    const kept = cache();
    const key = kept.buildKey(policy, { topic: 'job.a', job_id: 'j1', labels: { x: '1', y: '2' } });
    kept.put(key ?? '', held);

    const other = kept.buildKey(policy, { topic: 'job.a', job_id: 'j2', labels: { y: '2', x: '1' } });

    expect(other).toBe(key);
    expect(kept.get(other ?? '', 'j2')).toEqual({ ...held, approval_ref: 'j2' });
  });

  it('a job that was permitted before shares the decision too', () => {
    const prior_permit = { policy_snapshot: policy.snapshot, rule_id: 'a' };

    expect(cache().buildKey(policy, { topic: 'job.a', job_id: 'j1', prior_permit })).toBe(
      cache().buildKey(policy, { topic: 'job.a', job_id: 'j1' }),
    );
  });

  it('any other difference is a miss: a field, the content, the policy', () => {
    const keys = [
      cache().buildKey(policy, { topic: 'job.a' }),
      cache().buildKey(policy, { topic: 'job.b' }),
      cache().buildKey(policy, { topic: 'job.a', server_labels: { _a: 'b' } }),
      cache().buildKey(policy, { topic: 'job.a', input_content: 'x' }),
      cache().buildKey(policy, { topic: 'job.a', input_content: 'y' }),
      cache().buildKey(parsePolicyText('rules: [{id: b, decision: allow}]'), { topic: 'job.a' }),
    ];

    expect(new Set(keys).size).toBe(keys.length);
  });

  it('is not used with velocity rules, actions, content scans, or a time of 0', () => {
    const paced = parsePolicyText(
      'rules: [{id: a, decision: deny, velocity: {max_requests: 1, window_seconds: 1, key: tenant}}]',
    );
    const scanning = parsePolicyText('input_rules: [{id: w, decision: deny, match: {keywords: [x]}}]');

    expect(cache().buildKey(paced, { topic: 'job.a' })).toBeUndefined();
    expect(cache().buildKey(policy, { topic: 'job.a', action: {} })).toBeUndefined();
    expect(cache().buildKey(scanning, { topic: 'job.a', input_content: 'x' })).toBeUndefined();
    expect(cache().buildKey(scanning, { topic: 'job.a' })).toBeDefined();
    expect(cache({ ttlMs: 0 }).buildKey(policy, { topic: 'job.a' })).toBeUndefined();
  });

  it('evicts expired entries, and the least recently used first', () => {
    const kept = cache();
    kept.put('a', held);
    kept.put('b', held);
    kept.get('a', 'j1');
    kept.put('c', held);

    expect(['a', 'b', 'c'].map((key) => kept.get(key, 'j1') !== undefined)).toEqual([true, false, true]);
    nowMs += 1_000;
    expect(kept.get('a', 'j1')).toBeUndefined();
  });
});
