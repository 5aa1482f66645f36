import { ask, buildPolicy, verdict } from '../policy.testing';
import type { VelocityAnswer } from './request';

/** A complete policy and its guarantees. */
const policy = buildPolicy(`
version: "3"
default_decision: deny
default_tenant: harbor
tenants:
  harbor:
    mcp: {deny: [drop_table]}
    max_concurrent_jobs: 40
rules:
  - id: no-wipe
    match: {topics: ["job.store.*"], risk_tags: [destructive]}
    decision: deny
    reason: stores are never wiped by agents
    remediations:
      - id: archive
        title: Archive instead
        replacement_topic: job.store.archive
        add_labels: {mode: archive}
  - id: big-refund
    match: {topics: [job.refund.issue], metadata: {amount_gt: 250}}
    decision: require_approval
    reason: refunds above 250 need a person
  - id: refund-pace
    match: {topics: [job.refund.issue]}
    velocity: {max_requests: 12, window_seconds: 300, key: "tenant:labels.customer"}
    decision: throttle
    throttle_duration: 45s
  - id: night-crew
    match: {actor_types: [service], delegation: {max_depth: 2, required_scope: [refund]}}
    decision: allow_with_constraints
    constraints:
      budgets: {max_runtime_ms: 90000, max_retries: 1}
      sandbox: {isolated: true, network_allowlist: [ledger.internal]}
input_policy: {enabled: true, fail_mode: closed}
input_rules:
  - id: no-keys-in
    severity: critical
    match: {scanners: [secret]}
    decision: deny
    reason: prompt contains key material
`);
const crew = {
  topic: 'job.refund.issue',
  labels: { customer: 'c1' },
  meta: { actor_type: 'service' },
  delegation: { chain: ['boss'], depth: 1, scope: ['refund'] },
};
const counted = (count: number) => (): VelocityAnswer => ({ kind: 'count', count });
const clean = { scanContent: () => [] };

describe('the documented example', () => {
  it('denies a wipe and offers the archive', () => {
    expect(ask(policy, { topic: 'job.store.x', meta: { risk_tags: ['destructive'] } })).toMatchObject({
      decision: 'DENY',
      rule_id: 'no-wipe',
      remediations: [{ id: 'archive', replacement_topic: 'job.store.archive', add_labels: { mode: 'archive' } }],
    });
  });

  it('holds a large refund, throttles a burst, and permits the night crew within its limits', () => {
    expect(verdict(policy, { ...crew, input_content: '{"amount": 300}' })).toEqual(['REQUIRE_APPROVAL', 'big-refund']);
    expect(ask(policy, crew, {}, counted(13))).toMatchObject({ rule_id: 'refund-pace', throttle_duration_ms: 45_000 });
    expect(ask(policy, { ...crew, input_content: '{"amount": 3}' }, clean, counted(12))).toMatchObject({
      decision: 'ALLOW_WITH_CONSTRAINTS',
      rule_id: 'night-crew',
      constraints: { budgets: { max_runtime_ms: 90_000, max_retries: 1 }, sandbox: { isolated: true } },
    });
  });

  it('denies key material, forbidden tools, and unknown requests', () => {
    const found = { scanContent: () => [{ type: 'secret_leak', severity: 'critical', confidence: 0.95 }] };

    expect(verdict(policy, { ...crew, input_content: 'key' }, found)).toEqual(['DENY', 'no-keys-in']);
    expect(verdict(policy, { ...crew, labels: { 'mcp.tool': 'drop_table' } })[0]).toBe('DENY');
    expect(verdict(policy, { topic: 'job.other' })).toEqual(['DENY', '']);
    expect(policy.snapshot).toMatch(/^3:[0-9a-f]{64}$/);
  });
});
