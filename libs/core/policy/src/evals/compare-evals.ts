import type { Verdict } from '../document/words';
import {
  driftDirection,
  type DriftDirection,
  type EntryOutcome,
  type EntryScore,
  type EvalSummary,
  scoreEntry,
  summarizeScores,
} from './score';

/** An entry, and the outcomes of both policies. */
export interface ComparedEntry {
  entryId: string;
  expected: Verdict;
  left: EntryOutcome;
  right: EntryOutcome;
}

/** Effect of the change from the left to the right policy on the score: `fixed` passes only on the right, `broken` only on the left. */
export type EvalEffect = 'fixed' | 'broken' | 'none';

export interface EvalDifference extends ComparedEntry {
  leftScore: EntryScore;
  rightScore: EntryScore;
  /** From left to right; absent unless both decided. */
  direction?: DriftDirection;
  effect: EvalEffect;
}

export interface EvalComparison {
  left: EvalSummary;
  right: EvalSummary;
  counts: {
    total: number;
    unchanged: number;
    escalated: number;
    relaxed: number;
    fixed: number;
    broken: number;
    /** Entries on which at least one policy made no decision. */
    errored: number;
  };
  /** Entries with different decisions, or without one of them, in the order of the dataset. */
  differences: EvalDifference[];
}

/** Compares the decisions of two policies on the same entries. See docs/reference/evals.md#comparisons. */
export function compareEvals(entries: readonly ComparedEntry[]): EvalComparison {
  const compared = entries.map(compareEntry);
  const directions = (wanted: DriftDirection) => compared.filter(({ direction }) => direction === wanted).length;
  const effects = (wanted: EvalEffect) => compared.filter(({ effect }) => effect === wanted).length;
  return {
    left: summarizeScores(compared.map(({ leftScore }) => leftScore)),
    right: summarizeScores(compared.map(({ rightScore }) => rightScore)),
    counts: {
      total: compared.length,
      unchanged: directions('unchanged'),
      escalated: directions('escalated'),
      relaxed: directions('relaxed'),
      fixed: effects('fixed'),
      broken: effects('broken'),
      errored: compared.filter(({ direction }) => direction === undefined).length,
    },
    differences: compared.filter(({ direction }) => direction !== 'unchanged'),
  };
}

function compareEntry(entry: ComparedEntry): EvalDifference {
  const { expected, left, right } = entry;
  const [leftScore, rightScore] = [scoreEntry(expected, left), scoreEntry(expected, right)];
  const bothDecided = left.kind === 'decided' && right.kind === 'decided';
  return {
    ...entry,
    leftScore,
    rightScore,
    ...(bothDecided && { direction: driftDirection(left.verdict, right.verdict) }),
    effect: effectOn(leftScore, rightScore),
  };
}

function effectOn(left: EntryScore, right: EntryScore): EvalEffect {
  const [before, after] = [left.status === 'pass', right.status === 'pass'];
  if (before === after) return 'none';
  return after ? 'fixed' : 'broken';
}
