import { chainStates } from '@svc/contract';
import fc from 'fast-check';
import { groupApprovals, percentile, summarizeApprovals } from './approval-figures';
import { type HealthFacts, scoreHealth } from './health-score';
import { type CountedJob, groupUsage, sumUsage } from './usage-figures';

const facts = (over: Partial<HealthFacts> = {}): HealthFacts => ({
  denials: { allow: 10, deny: 0, require_approval: 0, other: 0, truncated: false, scanned_events: 10 },
  latency: { p95_ms: 1_000, samples: 3, truncated: false },
  coverage: { topics: 2, covered: 2, ratio: 1 },
  chain: 'ok',
  ...over,
});
const denials = (deny: number, allow: number): HealthFacts['denials'] => ({
  ...{ allow, deny, require_approval: 0, other: 0, truncated: false, scanned_events: allow + deny },
});
const anyFacts: fc.Arbitrary<HealthFacts> = fc.record({
  denials: fc.tuple(fc.nat(50), fc.nat(50)).map(([deny, allow]) => denials(deny, allow)),
  latency: fc.option(fc.nat(600_000)).map((p95_ms) => ({ p95_ms, samples: 1, truncated: false })),
  coverage: fc.option(fc.double({ min: 0, max: 1, noNaN: true })).map((ratio) => ({ topics: 1, covered: 1, ratio })),
  chain: fc.constantFrom(...chainStates),
});

describe('the health of governance', () => {
  it('is A without denials, with fast approvals, full coverage and a verified chain', () => {
    expect(scoreHealth(facts())).toMatchObject({ score: 100, grade: 'A' });
  });

  it.each<[string, Partial<HealthFacts>, number, string]>([
    ['half of the decisions are denials', { denials: denials(5, 5) }, 75, 'C'],
    ['a quarter are denials', { denials: denials(1, 3) }, 87.5, 'B'],
    ['approvals take 5 minutes', { latency: { p95_ms: 300_000, samples: 1, truncated: false } }, 75, 'C'],
    ['no topic is covered', { coverage: { topics: 2, covered: 0, ratio: 0 } }, 75, 'C'],
    ['the chain is partly verified', { chain: 'partial' }, 96.3, 'A'],
    ['the chain cannot be verified', { chain: 'unavailable' }, 92.5, 'A'],
    ['the chain is compromised', { chain: 'compromised' }, 55, 'F'],
  ])('%s', (_, over, score, grade) => {
    expect(scoreHealth(facts(over))).toMatchObject({ score, grade });
  });

  it('lies between 0 and 100, is never above 55 with a compromised chain, and falls with each further denial', () => {
    fc.assert(
      fc.property(anyFacts, (some) => {
        const { score, factors } = scoreHealth(some);
        for (const each of [score, ...Object.values(factors).map((factor) => factor.score)]) {
          expect(each).toBeGreaterThanOrEqual(0);
          expect(each).toBeLessThanOrEqual(100);
        }
        if (some.chain === 'compromised') expect(score).toBeLessThanOrEqual(55);
        const { allow, deny } = some.denials;
        if (allow + deny > 0)
          expect(scoreHealth({ ...some, denials: denials(deny + 1, allow) }).score).toBeLessThanOrEqual(score);
      }),
    );
  });
});

const resolution = fc.record({
  atMs: fc.integer({ min: 1_000_000, max: 2_000_000 }),
  heldAtMs: fc.integer({ min: 0, max: 1_000_000 }),
  outcome: fc.constantFrom('approved' as const, 'rejected' as const, 'expired' as const, 'invalidated' as const),
  by: fc.constantFrom('', 'ann', 'ola'),
  ruleId: fc.constantFrom('', 'r1', 'r2'),
  agentId: fc.constantFrom('', 'a1'),
  topic: fc.constantFrom('job.a', 'job.b'),
});

describe('approval figures', () => {
  it('without resolutions have no times', () => {
    expect(summarizeApprovals([])).toMatchObject({ total: 0, avg_time_to_approve_seconds: null, p50: null, p99: null });
  });

  it('count each resolution once, in the summary and in every grouping', () => {
    fc.assert(
      fc.property(fc.array(resolution), fc.constantFrom('rule', 'agent', 'topic', 'approver'), (all, by) => {
        const summary = summarizeApprovals(all);
        const groups = groupApprovals(all, by, 50);
        expect(summary.auto_resolved + summary.manual_resolved).toBe(all.length);
        expect(groups.reduce((sum, { total }) => sum + total, 0)).toBe(all.length);
        expect(groups.reduce((sum, { approved }) => sum + approved, 0)).toBe(summary.approved);
        const times = groups.flatMap(({ avg_ttar_seconds: time }) => time ?? []);
        expect(times).toEqual([...times].sort((a, b) => b - a));
        const { p50, p90, p99 } = summary;
        if (p50 !== null && p90 !== null && p99 !== null)
          expect([p50, p90, p99]).toEqual([p50, p90, p99].sort((a, b) => a - b));
      }),
    );
  });

  it('percentiles are values of the sample, by nearest rank', () => {
    const times = Array.from({ length: 100 }, (_, i) => i + 1);

    expect([50, 90, 95, 99, 100].map((percent) => percentile(times, percent))).toEqual([50, 90, 95, 99, 100]);
    expect(percentile([7], 1)).toBe(7);
  });
});

describe('cost and risk', () => {
  const job = fc.record({
    key: fc.constantFrom('', 'a', 'b'),
    state: fc.constantFrom('SUCCEEDED', 'DENIED', 'FAILED', 'TIMEOUT', 'OUTPUT_QUARANTINED', 'RUNNING'),
    isHeld: fc.boolean(),
    costUsd: fc.integer({ min: 0, max: 1_000 }),
  });

  it('of groups add up to the total, and the risk of a job without adverse outcome is 0', () => {
    fc.assert(
      fc.property(fc.array(job), (jobs: CountedJob[]) => {
        const groups = groupUsage(jobs, 50);
        const total = sumUsage(jobs);
        for (const figure of ['jobs', 'denied', 'held', 'failed', 'quarantined', 'cost_usd'] as const) {
          expect(groups.reduce((sum, group) => sum + group[figure], 0)).toBeCloseTo(total[figure]);
        }
        const isClean = jobs.every(({ state, isHeld }) => (state === 'SUCCEEDED' || state === 'RUNNING') && !isHeld);
        if (isClean && jobs.length > 0) expect(total.risk_score).toBe(0);
        if (jobs.length > 0) expect(total.risk_score).toBeLessThanOrEqual(100);
      }),
    );
  });
});
