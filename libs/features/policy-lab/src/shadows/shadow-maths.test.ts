import { shadowBuckets, shadowDiffs } from '@svc/contract';
import fc from 'fast-check';
import {
  alignedDown,
  bucketFault,
  countDiffs,
  encodeCursor,
  compareDecisions,
  decodeCursor,
  severities,
  buildTimeseries,
  sumCounts,
  windowFault,
} from './shadow-maths';

const decisions = ['ALLOW', 'ALLOW_WITH_CONSTRAINTS', 'REQUIRE_APPROVAL', 'THROTTLE', 'DENY'] as const;
type Decision = (typeof decisions)[number];
const decided = (decision: Decision) => ({ decision, approval_required: decision === 'REQUIRE_APPROVAL' });
const day = 86_400_000;

describe('the difference of a shadow', () => {
  it.each<[Decision, Decision, string]>([
    ['ALLOW', 'ALLOW', 'unchanged'],
    ['REQUIRE_APPROVAL', 'REQUIRE_APPROVAL', 'unchanged'],
    ['ALLOW', 'REQUIRE_APPROVAL', 'approval_differ'],
    ['REQUIRE_APPROVAL', 'ALLOW', 'approval_differ'],
    ['DENY', 'REQUIRE_APPROVAL', 'approval_differ'],
    ['ALLOW', 'ALLOW_WITH_CONSTRAINTS', 'escalated'],
    ['ALLOW', 'THROTTLE', 'escalated'],
    ['THROTTLE', 'DENY', 'escalated'],
    ['ALLOW_WITH_CONSTRAINTS', 'ALLOW', 'relaxed'],
    ['DENY', 'THROTTLE', 'relaxed'],
    ['DENY', 'ALLOW', 'relaxed'],
  ])('%s live and %s in the shadow is %s', (active, shadow, diff) => {
    expect(compareDecisions(decided(active), decided(shadow))).toBe(diff);
  });

  it('equal verdicts differ when only one requires an approval', () => {
    expect(compareDecisions(decided('DENY'), { decision: 'DENY', approval_required: true })).toBe('approval_differ');
  });

  it('swapping live and shadow swaps escalated and relaxed, and nothing else', () => {
    const mirrored = { escalated: 'relaxed', relaxed: 'escalated', approval_differ: 'approval_differ', unchanged: 'unchanged' }; // prettier-ignore
    for (const a of decisions) {
      for (const b of decisions) {
        expect(compareDecisions(decided(b), decided(a))).toBe(mirrored[compareDecisions(decided(a), decided(b))]);
      }
    }
  });

  it('only escalations are of medium severity', () => {
    expect(shadowDiffs.map((diff) => severities[diff])).toEqual(['MEDIUM', 'LOW', 'LOW', 'INFO']);
  });
});

describe('limits of a query', () => {
  it.each([
    [0, 1, undefined],
    [5, 5, 'to must be after from'],
    [6, 5, 'to must be after from'],
    [7, 7 + 30 * day, undefined],
    [7, 8 + 30 * day, 'from and to may be 30 days apart'],
  ])('from %d to %d: %s', (from, to, fault) => {
    expect(windowFault({ from, to })).toBe(fault);
  });

  it('allows at most 2000 buckets, counting those that the window only touches', () => {
    const minutes = (count: number, into: number) => ({ from: into, to: into + count * 60_000 });

    expect(bucketFault(minutes(2_000, 0), '1m')).toBeUndefined();
    expect(bucketFault(minutes(2_000, 1), '1m')).toMatch(/2001 buckets/);
    expect(bucketFault({ from: 0, to: 30 * day }, '15m')).toMatch(/2880/);
    expect(bucketFault({ from: 0, to: 30 * day }, '1h')).toBeUndefined();
  });
});

describe('results over time', () => {
  const at = fc.integer({ min: 0, max: 3 * day });
  const results = fc.array(fc.record({ ts_ms: at, diff: fc.constantFrom(...shadowDiffs) }), { maxLength: 200 });
  const asked = fc.record({
    from: at,
    lengthMs: fc.integer({ min: 1, max: 1_900 * 60_000 }),
    bucket: fc.constantFrom(...shadowBuckets),
  });

  it('each bucket equals a plain count over its time, and the buckets cover the window without a gap', () => {
    fc.assert(
      fc.property(results, asked, (all, { from, lengthMs, bucket }) => {
        const window = { from, to: from + lengthMs };
        const series = buildTimeseries(all, window, bucket);

        expect(series[0]?.ts_ms).toBe(alignedDown(from, bucket));
        series.forEach((one, i) => {
          const endMs = Math.min(series[i + 1]?.ts_ms ?? window.to, window.to);
          const within = all.filter(({ ts_ms }) => ts_ms >= one.ts_ms && ts_ms < endMs);
          const { ts_ms: _begins, total, ...counts } = one;
          expect(counts).toEqual(countDiffs(within));
          expect(total).toBe(within.length);
        });
        const covered = all.filter(({ ts_ms }) => ts_ms >= alignedDown(from, bucket) && ts_ms < window.to);
        expect(series.reduce((sum, { total }) => sum + total, 0)).toBe(covered.length);
      }),
    );
  });

  it('empty buckets are included', () => {
    const series = buildTimeseries([{ ts_ms: 130_000, diff: 'relaxed' }], { from: 61_000, to: 240_000 }, '1m');

    expect(series.map(({ ts_ms, relaxed, total }) => [ts_ms, relaxed, total])).toEqual([
      [60_000, 0, 0],
      [120_000, 1, 1],
      [180_000, 0, 0],
    ]);
  });

  it('days begin at midnight, UTC', () => {
    expect(new Date(alignedDown(Date.UTC(2026, 2, 29, 13, 5), '1d')).toISOString()).toBe('2026-03-29T00:00:00.000Z');
  });

  it('counts add up', () => {
    expect(sumCounts({ escalated: 1, relaxed: 2, approval_differ: 3, unchanged: 4 })).toBe(10);
  });
});

describe('cursors', () => {
  it('decode to the position where the page ended', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (ts_ms, seq) => {
        expect(decodeCursor(encodeCursor({ ts_ms, seq }))).toEqual({ ts_ms, seq });
      }),
    );
  });

  it.each(['', '12', '-3', '1-', 'a-b', '1-2-3', '(1-2', '1234567890123456-0'])('%j is rejected', (cursor) => {
    expect(decodeCursor(cursor)).toBeUndefined();
  });
});
