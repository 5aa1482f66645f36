import type {
  ChosenPolicyView,
  ComparedOutcomeView,
  ComparedPolicyView,
  ComparisonItem,
  ComparisonResult,
  EvalDifferenceView,
  EvalEntry,
  EvalProgress,
  EvalRunEntry,
  EvalRunItem,
  EvalRunResult,
  EvaluatedDataset,
} from '@svc/contract';
import {
  compareEvals,
  type EntryOutcome,
  type EntryScore,
  type EvalDifference,
  type EvalSummary,
  scoreEntry,
  summarizeScores,
} from '@svc/policy';
import { toInstant } from './eval-deps';
import { toCompared } from './execute-run';
import type { PolicyOutcomes, StoredRun } from './run.repository';

/** Views of runs and comparisons. See docs/reference/evals.md. */

const current: ChosenPolicyView = { kind: 'current' };

export const toDataset = ({ dataset, dataset_name, dataset_version, tenant }: StoredRun): EvaluatedDataset => ({
  dataset_id: dataset,
  dataset_name,
  dataset_version,
  tenant,
});

export function toProgress(run: StoredRun): EvalProgress {
  const { status, evaluated, total, startedUs, completedUs, snapshots, error } = run;
  return {
    status: status === 'completed' ? 'running' : status,
    evaluated,
    total,
    started_at: toInstant(startedUs),
    ...(completedUs !== undefined && { completed_at: toInstant(completedUs) }),
    ...(snapshots?.[0] && { policy_snapshot: snapshots[0] }),
    ...(error && { error }),
  };
}

export function toRunItem(run: StoredRun): EvalRunItem {
  const { id, status, policies, startedUs, completedUs, snapshots, summary, error } = run;
  return {
    ...toDataset(run),
    run_id: id,
    status,
    policy: policies[0] ?? current,
    started_at: toInstant(startedUs),
    ...(completedUs !== undefined && { completed_at: toInstant(completedUs) }),
    ...(snapshots?.[0] && { policy_snapshot: snapshots[0] }),
    ...(summary && { summary }),
    ...(error && { error }),
  };
}

export function toRunResult(
  run: StoredRun,
  entries: readonly EvalEntry[],
  results: readonly PolicyOutcomes[],
): EvalRunResult {
  // prettier-ignore
  const { snapshot = '', outcomes = [] } = results[0] ?? {};
  const rows = entries.map((entry, i) => toRunEntry(entry, outcomes[i] ?? { kind: 'failed', error: 'not evaluated' }));
  return {
    ...toDataset(run),
    run_id: run.id,
    status: 'completed',
    policy: run.policies[0] ?? current,
    policy_snapshot: snapshot,
    started_at: toInstant(run.startedUs),
    completed_at: toInstant(run.completedUs ?? run.startedUs),
    summary: summarizeScores(rows),
    entries: rows,
  };
}

function toRunEntry({ id, input, expected_decision }: EvalEntry, outcome: EntryOutcome): EvalRunEntry {
  const { status, direction } = scoreEntry(expected_decision, outcome);
  const common = { entry_id: id, input, expected_decision, status, ...(direction && { drift_direction: direction }) };
  if (outcome.kind === 'failed') return { ...common, rule_id: '', reason: '', error: outcome.error };
  return { ...common, actual_decision: outcome.verdict, rule_id: outcome.ruleId, reason: outcome.reason };
}

export function toComparisonItem(run: StoredRun): ComparisonItem {
  const { id, status, policies, startedUs, completedUs, counts, error } = run;
  return {
    ...toDataset(run),
    comparison_id: id,
    status,
    left: policies[0] ?? current,
    right: policies[1] ?? current,
    started_at: toInstant(startedUs),
    ...(completedUs !== undefined && { completed_at: toInstant(completedUs) }),
    ...(counts && { counts }),
    ...(error && { error }),
  };
}

export function toComparisonResult(
  run: StoredRun,
  entries: readonly EvalEntry[],
  results: readonly PolicyOutcomes[],
): ComparisonResult {
  // prettier-ignore
  const { left, right, counts, differences } = compareEvals(toCompared(entries, results));
  const topics = new Map(entries.map(({ id, input }) => [id, input.topic]));
  const side = (i: number, summary: EvalSummary): ComparedPolicyView => ({
    policy: run.policies[i] ?? current,
    policy_snapshot: results[i]?.snapshot ?? '',
    summary,
  });
  return {
    ...toDataset(run),
    comparison_id: run.id,
    status: 'completed',
    started_at: toInstant(run.startedUs),
    completed_at: toInstant(run.completedUs ?? run.startedUs),
    left: side(0, left),
    right: side(1, right),
    counts,
    differences: differences.map((one) => toDifference(one, topics.get(one.entryId) ?? '')),
  };
}

function toDifference(one: EvalDifference, topic: string): EvalDifferenceView {
  const { entryId, expected, left, right, leftScore, rightScore, direction, effect } = one;
  return {
    entry_id: entryId,
    topic,
    expected_decision: expected,
    left: toOutcomeView(left, leftScore),
    right: toOutcomeView(right, rightScore),
    effect,
    ...(direction && direction !== 'unchanged' && { direction }),
  };
}

const toOutcomeView = (outcome: EntryOutcome, { status }: EntryScore): ComparedOutcomeView =>
  outcome.kind === 'failed'
    ? { status, rule_id: '', reason: '', error: outcome.error }
    : { status, decision: outcome.verdict, rule_id: outcome.ruleId, reason: outcome.reason };
