import { analyseRules, type RuleHit } from './analytics';
import { compareReplay, type ReplayedJob } from './compare';

const job = (jobId: string, original: ReplayedJob['original'], verdict: ReplayedJob['original'], ruleId = 'r') =>
  ({
    jobId,
    topic: 'job.a',
    tenant: 't',
    original,
    outcome: { kind: 'decided', verdict, ruleId, reason: 'why' },
  }) as const satisfies ReplayedJob;

describe('a replay', () => {
  it('counts stricter, laxer and equal decisions, by deciding rule', () => {
    const report = compareReplay([
      job('1', 'ALLOW', 'DENY', 'ban'),
      job('2', 'DENY', 'REQUIRE_APPROVAL', 'held'),
      job('3', 'ALLOW', 'ALLOW'),
      job('4', 'ALLOW', 'ALLOW_WITH_CONSTRAINTS'),
      job('5', 'THROTTLE', 'REQUIRE_APPROVAL', 'held'),
      { ...job('6', 'ALLOW', 'ALLOW'), outcome: { kind: 'failed', error: 'no answer' } },
    ]);

    expect(report.summary).toEqual({ total_jobs: 6, evaluated: 5, escalated: 2, relaxed: 2, unchanged: 1, errored: 1 });
    expect(report.rule_hits).toEqual([
      { rule_id: 'held', decision: 'REQUIRE_APPROVAL', count: 2 },
      { rule_id: 'ban', decision: 'DENY', count: 1 },
      { rule_id: 'r', decision: 'ALLOW', count: 1 },
      { rule_id: 'r', decision: 'ALLOW_WITH_CONSTRAINTS', count: 1 },
    ]);
    expect(report.changes.map(({ job_id, direction }) => [job_id, direction])).toEqual([
      ['1', 'escalated'],
      ['2', 'relaxed'],
      ['4', 'escalated'],
      ['5', 'relaxed'],
    ]);
    expect(report.changes[0]).toEqual({
      job_id: '1', topic: 'job.a', tenant: 't', original_decision: 'ALLOW', new_decision: 'DENY', new_rule_id: 'ban',
      new_reason: 'why', direction: 'escalated',
    }); // prettier-ignore
    expect(report.errors).toEqual([{ job_id: '6', error: 'no answer' }]);
  });

  it('of no jobs is empty', () => {
    expect(compareReplay([]).summary).toEqual({
      total_jobs: 0, evaluated: 0, escalated: 0, relaxed: 0, unchanged: 0, errored: 0,
    }); // prettier-ignore
  });
});

describe('the analytics of rules', () => {
  const day = 86_400_000;
  const hit = (ruleId: string, decidedAtMs: number, isHeld = false, approvedAtMs?: number): RuleHit => ({
    ruleId,
    decidedAtMs,
    isHeld,
    approvedAtMs,
  });
  const hits = [
    hit('a', 0),
    hit('a', day),
    hit('a', 2 * day),
    hit('b', 10, true, 110),
    hit('b', 20, true, 320),
    hit('b', 30, true),
    hit('c', 3 * day + 1),
  ];

  it('count decisions of rules and approvals', () => {
    const { rules, summary } = analyseRules(hits, { fromMs: 0, toMs: 2 * day });

    expect(rules).toEqual([
      { rule_id: 'a', hit_count: 3, approval_count: 0, override_count: 0, override_rate: 0, avg_approval_latency_ms: 0, daily_hits: [1, 2] },
      { rule_id: 'b', hit_count: 3, approval_count: 3, override_count: 2, override_rate: 0.667, avg_approval_latency_ms: 200, daily_hits: [3, 0] },
    ]);
    expect(summary).toEqual({ total_rules: 2, total_hits: 6, total_overrides: 2, highest_override_rule_id: 'b' });
  }); // prettier-ignore

  it('cover the requested rules only', () => {
    const ids = (ruleFilter: string) =>
      analyseRules(hits, { fromMs: 0, toMs: 9 * day, ruleFilter }).rules.map(({ rule_id }) => rule_id);

    expect([ids('a'), ids('[bc]'), ids('x'), ids('')]).toEqual([['a'], ['b', 'c'], [], ['a', 'b', 'c']]);
  });
});
