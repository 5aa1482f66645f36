import { buildPolicy } from '../policy.testing';
import { explain } from './explain';
import type { VelocityAnswer } from './request';

const policy = buildPolicy({
  base: [
    'default_decision: deny',
    'rules:',
    '  - {id: elsewhere, decision: deny, match: {topics: [job.b]}}',
    '  - {id: tags, decision: deny, match: {topics: [job.a], risk_tags: [x]}}',
    '  - {id: tool, decision: allow, match: {mcp: {}}}',
    '  - {id: pace, decision: deny, velocity: {max_requests: 3, window_seconds: 1, key: tenant}}',
    '  - {id: ok, decision: allow, reason: fine}',
    'input_rules:',
    '  - {id: words, decision: deny, match: {keywords: [x]}}',
  ].join('\n'),
});
const looked = (): Promise<VelocityAnswer> => Promise.resolve({ kind: 'count', count: 1 });

describe('explain', () => {
  it('names each rule considered and the condition that failed', async () => {
    const { decision, trace } = await explain(policy, { topic: 'job.a', input_content: 'y' }, looked, {
      scanContent: () => [],
    });

    expect(trace).toEqual([
      { set: 'global', ruleId: 'elsewhere', source: 'base', verdict: 'DENY', outcome: 'not_matched', failed: 'topics' },
      { set: 'global', ruleId: 'tags', source: 'base', verdict: 'DENY', outcome: 'not_matched', failed: 'risk_tags' },
      { set: 'global', ruleId: 'tool', source: 'base', verdict: 'ALLOW', outcome: 'other_section' },
      {
        set: 'global',
        ruleId: 'pace',
        source: 'base',
        verdict: 'DENY',
        outcome: 'not_matched',
        failed: 'velocity.max_requests',
      },
      { set: 'global', ruleId: 'ok', source: 'base', verdict: 'ALLOW', outcome: 'matched' },
      { set: 'content', ruleId: 'words', source: 'base', verdict: 'DENY', outcome: 'not_matched', failed: 'content' },
    ]);
    expect(decision).toMatchObject({ decision: 'ALLOW', rule_id: 'ok' });
    expect(decision.reason).toBe(
      'fine; decided by rule ok of base; passed over elsewhere (topics), tags (risk_tags), tool (other_section), ' +
        'pace (velocity.max_requests), words (content)',
    );
  });

  it('reports that nothing matched, and that a window could not be counted', async () => {
    const banned = buildPolicy(
      'rules: [{id: pace, decision: deny, velocity: {max_requests: 1, window_seconds: 1, key: tenant}}]',
    );

    const open = await explain(banned, { topic: 'job.a' }, () => Promise.resolve({ kind: 'unavailable' }), {
      velocityFailMode: 'open',
    });

    expect(open.decision.reason).toBe('no rule matched: the default policy is deny; passed over pace (velocity)');
    expect(open.trace).toMatchObject([{ outcome: 'unavailable', failed: 'velocity' }]);
  });

  it('names matching rules that did not decide', async () => {
    const tiers = buildPolicy({
      base: 'rules: [{id: wide, decision: deny}]',
      'job/J/policy': 'tier: job\nselector: {job_id: J}\nrules: [{id: own, decision: allow}]',
    });

    const { decision } = await explain(tiers, { topic: 'job.a', job_id: 'J' }, looked);

    expect(decision).toMatchObject({ decision: 'DENY', rule_id: 'wide' });
    expect(decision.reason).toBe(
      'matched rule wide; decided by rule wide of base; matched too, and did not decide: rule own of job/J/policy',
    );
  });

  it('lists a hundred of a thousand rules, including the match, in order', async () => {
    const many = Array.from(
      { length: 1_000 },
      (_, n) => `  - {id: r${n}, decision: deny, match: {topics: [job.x${n}]}}`,
    );
    const long = buildPolicy(`rules:\n${many.join('\n')}\n`);

    const { trace, traceTotal, decision } = await explain(long, { topic: 'job.x900' }, looked);

    expect([trace.length, traceTotal]).toEqual([100, 901]);
    expect(trace.map(({ ruleId }) => ruleId)).toEqual([...Array.from({ length: 99 }, (_, n) => `r${n}`), 'r900']);
    expect(decision.reason).toContain('passed over r0 (topics)');
    expect(decision.reason).toContain('and 890 more');
  });
});
