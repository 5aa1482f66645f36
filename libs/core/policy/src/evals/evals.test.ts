import fc from 'fast-check';
import type { Verdict } from '../document/words';
import { compareEvals, type ComparedEntry } from './compare-evals';
import { type EntryOutcome, scoreEntry, summarizeScores } from './score';

const verdicts: readonly Verdict[] = ['ALLOW', 'ALLOW_WITH_CONSTRAINTS', 'REQUIRE_APPROVAL', 'THROTTLE', 'DENY'];
const verdict = fc.constantFrom(...verdicts);
const decided = (decision: Verdict): EntryOutcome => ({
  kind: 'decided',
  verdict: decision,
  ruleId: 'r',
  reason: 'why',
});
const outcome = fc.oneof(
  { weight: 5, arbitrary: verdict.map(decided) },
  { weight: 1, arbitrary: fc.constant<EntryOutcome>({ kind: 'failed', error: 'no answer' }) },
);
const entry = fc.record({ entryId: fc.uuid(), expected: verdict, left: outcome, right: outcome });

describe('the score of an entry', () => {
  it.each<[Verdict, Verdict, ReturnType<typeof scoreEntry>]>([
    ['DENY', 'DENY', { status: 'pass', direction: 'unchanged' }],
    ['DENY', 'ALLOW', { status: 'regression', direction: 'relaxed' }],
    ['ALLOW_WITH_CONSTRAINTS', 'ALLOW', { status: 'regression', direction: 'relaxed' }],
    ['ALLOW', 'DENY', { status: 'fail', direction: 'escalated' }],
    ['DENY', 'ALLOW_WITH_CONSTRAINTS', { status: 'fail', direction: 'relaxed' }],
    ['REQUIRE_APPROVAL', 'THROTTLE', { status: 'fail', direction: 'escalated' }],
  ])('expected %s, actual %s', (expected, actual, score) => {
    expect(scoreEntry(expected, decided(actual))).toEqual(score);
  });

  it('without a decision is an error without a direction', () => {
    expect(scoreEntry('ALLOW', { kind: 'failed', error: 'x' })).toEqual({ status: 'error' });
  });

  it('passes exactly when the decision is the expected one, and is a regression exactly when ALLOW was not expected', () => {
    fc.assert(
      fc.property(verdict, verdict, (expected, actual) => {
        const { status, direction } = scoreEntry(expected, decided(actual));
        expect(status === 'pass').toBe(expected === actual);
        expect(status === 'regression').toBe(actual === 'ALLOW' && expected !== 'ALLOW');
        expect(direction === 'unchanged').toBe(expected === actual);
        if (status === 'regression') expect(direction).toBe('relaxed');
      }),
    );
  });
});

describe('the summary of a run', () => {
  it('of no entries has no score', () => {
    expect(summarizeScores([])).toEqual({
      total: 0,
      passed: 0,
      failed: 0,
      regressions: 0,
      errored: 0,
      score_percent: null,
    });
  });

  it('rounds to two decimals', () => {
    const scores = (['pass', 'fail', 'error'] as const).map((status) => ({ status }));

    expect(summarizeScores(scores).score_percent).toBe(33.33);
  });

  it('counts each entry once, and its score is 100 exactly when all passed', () => {
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1 }), (entries) => {
        const summary = summarizeScores(entries.map(({ expected, left }) => scoreEntry(expected, left)));
        const { total, passed, failed, regressions, errored, score_percent: score } = summary;
        expect(passed + failed + regressions + errored).toBe(total);
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score === 100).toBe(passed === total);
      }),
    );
  });
});

describe('the comparison of two policies', () => {
  const mirrored = ({ left, right, ...rest }: ComparedEntry): ComparedEntry => ({ ...rest, left: right, right: left });

  it('of equal decisions has no differences', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ entryId: fc.uuid(), expected: verdict, actual: verdict })), (entries) => {
        const same = entries.map(({ actual, ...rest }) => ({ ...rest, left: decided(actual), right: decided(actual) }));
        const { differences, counts, left, right } = compareEvals(same);
        expect(differences).toEqual([]);
        expect(counts).toMatchObject({ unchanged: same.length, fixed: 0, broken: 0 });
        expect(left).toEqual(right);
      }),
    );
  });

  it('of exchanged sides exchanges the directions and the effects', () => {
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const there = compareEvals(entries);
        const back = compareEvals(entries.map(mirrored));
        expect(back.counts).toEqual({
          ...there.counts,
          escalated: there.counts.relaxed,
          relaxed: there.counts.escalated,
          fixed: there.counts.broken,
          broken: there.counts.fixed,
        });
        expect([back.left, back.right]).toEqual([there.right, there.left]);
        expect(back.differences.map(({ entryId }) => entryId)).toEqual(there.differences.map(({ entryId }) => entryId));
      }),
    );
  });

  it('accounts for every entry, and the effects explain the change of the score', () => {
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const { counts, left, right, differences } = compareEvals(entries);
        expect(counts.unchanged + counts.escalated + counts.relaxed + counts.errored).toBe(counts.total);
        expect(right.passed - left.passed).toBe(counts.fixed - counts.broken);
        expect(differences).toHaveLength(counts.total - counts.unchanged);
      }),
    );
  });

  it('names what was fixed and what was broken', () => {
    const differing = compareEvals([
      { entryId: 'a', expected: 'DENY', left: decided('ALLOW'), right: decided('DENY') },
      { entryId: 'b', expected: 'ALLOW', left: decided('ALLOW'), right: decided('DENY') },
      { entryId: 'c', expected: 'ALLOW', left: decided('DENY'), right: decided('THROTTLE') },
    ]).differences;

    expect(differing.map(({ entryId, direction, effect }) => [entryId, direction, effect])).toEqual([
      ['a', 'escalated', 'fixed'],
      ['b', 'escalated', 'broken'],
      ['c', 'relaxed', 'none'],
    ]);
  });
});
