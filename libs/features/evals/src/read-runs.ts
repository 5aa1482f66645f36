import {
  AppError,
  type Caller,
  type ComparisonItem,
  type ComparisonResult,
  type ComparisonState,
  type EvalRunItem,
  type EvalRunResult,
  type EvalRunsQuery,
  type EvalRunState,
} from '@svc/contract';
import { type EvalDeps, isVisible } from './eval-deps';
import { requireDataset } from './read-datasets';
import { toDataset, toComparisonItem, toComparisonResult, toProgress, toRunItem, toRunResult } from './run-views';
import type { RunKind, StoredRun } from './run.repository';

type ReadDeps = Pick<EvalDeps, 'datasets' | 'evalRuns'>;

export const missingCodes = { run: 'eval_run_not_found', comparison: 'eval_comparison_not_found' } as const;

/** @throws eval_run_not_found, eval_comparison_not_found */
export async function requireRun(deps: ReadDeps, caller: Caller, id: string, kind: RunKind): Promise<StoredRun> {
  const run = await deps.evalRuns.load(id);
  if (!run || run.kind !== kind || !isVisible(caller, run.tenant)) throw new AppError(missingCodes[kind]);
  return withoutAbandoned(deps, run);
}

const abandoned = 'the process that evaluated the run stopped; start it again';

/** A run in progress that no process continues becomes failed. */
async function withoutAbandoned({ evalRuns }: ReadDeps, run: StoredRun): Promise<StoredRun> {
  if (run.status !== 'pending' && run.status !== 'running') return run;
  const outcome = await evalRuns.move(run.id, 'abandon', { error: abandoned });
  return outcome === 'moved' ? ((await evalRuns.load(run.id)) ?? run) : run;
}

/** A run while it is in progress or after it failed, or its result. */
export type RunReading<Result, State> = { kind: 'completed'; result: Result } | { kind: 'state'; state: State };

/** @throws eval_run_not_found */
export async function readEvalRun(
  deps: ReadDeps,
  caller: Caller,
  id: string,
): Promise<RunReading<EvalRunResult, EvalRunState>> {
  // prettier-ignore
  const run = await requireRun(deps, caller, id, 'run');
  if (run.status !== 'completed') {
    return { kind: 'state', state: { ...toDataset(run), run_id: id, ...toProgress(run) } };
  }
  const { results, entries } = await loadOutcomes(deps, run);
  return { kind: 'completed', result: toRunResult(run, entries, results) };
}

/** @throws eval_comparison_not_found */
export async function readComparison(
  deps: ReadDeps,
  caller: Caller,
  id: string,
): Promise<RunReading<ComparisonResult, ComparisonState>> {
  // prettier-ignore
  const run = await requireRun(deps, caller, id, 'comparison');
  if (run.status !== 'completed') {
    return { kind: 'state', state: { ...toDataset(run), comparison_id: id, ...toProgress(run) } };
  }
  const { results, entries } = await loadOutcomes(deps, run);
  return { kind: 'completed', result: toComparisonResult(run, entries, results) };
}

/** The result of a run that this call has evaluated. @throws eval_run_not_found when it was removed in between */
export async function requireRunResult(deps: ReadDeps, caller: Caller, id: string): Promise<EvalRunResult> {
  const reading = await readEvalRun(deps, caller, id);
  if (reading.kind !== 'completed')
    throw new AppError('eval_run_conflict', { error: reading.state.error ?? 'the run was ended' });
  return reading.result;
}

/** The same for a comparison. @throws eval_comparison_not_found */
export async function requireComparisonResult(deps: ReadDeps, caller: Caller, id: string): Promise<ComparisonResult> {
  const reading = await readComparison(deps, caller, id);
  if (reading.kind !== 'completed')
    throw new AppError('eval_run_conflict', { error: reading.state.error ?? 'the comparison was ended' });
  return reading.result;
}

async function loadOutcomes({ datasets, evalRuns }: ReadDeps, run: StoredRun) {
  const [entries, results] = await Promise.all([datasets.entries(run.dataset), evalRuns.results(run.id)]);
  if (!entries || !results) throw new AppError(missingCodes[run.kind]);
  return { entries: entries.slice(0, run.total), results };
}

interface Page<T> {
  items: T[];
  next_cursor: string;
}

/** Runs of a dataset, newest first. @throws eval_dataset_not_found */
export async function listEvalRuns(
  deps: ReadDeps,
  caller: Caller,
  datasetId: string,
  query: EvalRunsQuery,
): Promise<Page<EvalRunItem>> {
  // prettier-ignore
  const { has_regression, min_score, since = 0, until = Infinity, limit, cursor } = query;
  const fits = ({ summary }: StoredRun) =>
    (has_regression === undefined || (summary !== undefined && summary.regressions > 0 === has_regression)) &&
    (min_score === undefined || (summary?.score_percent ?? -1) >= min_score);
  const range = { fromUs: since * 1_000, toUs: Math.min(until * 1_000 + 999, toEnd(cursor)) };
  return page(deps, caller, datasetId, { kind: 'run', range, fits, limit }, toRunItem);
}

/** Comparisons on a dataset, newest first. @throws eval_dataset_not_found */
export async function listComparisons(
  deps: ReadDeps,
  caller: Caller,
  datasetId: string,
  { limit, cursor }: { limit: number; cursor?: string },
): Promise<Page<ComparisonItem>> {
  const range = { fromUs: 0, toUs: toEnd(cursor) };
  return page(deps, caller, datasetId, { kind: 'comparison', range, fits: () => true, limit }, toComparisonItem);
}

const toEnd = (cursor: string | undefined): number => (cursor === undefined ? Infinity : Number(cursor) - 1);

interface WantedRuns {
  kind: RunKind;
  range: { fromUs: number; toUs: number };
  fits(run: StoredRun): boolean;
  limit: number;
}

async function page<Item>(
  deps: ReadDeps,
  caller: Caller,
  datasetId: string,
  { kind, range, fits, limit }: WantedRuns,
  toItem: (run: StoredRun) => Item,
): Promise<Page<Item>> {
  const { id } = await requireDataset(deps, caller, datasetId);
  const found: StoredRun[] = [];
  for await (const run of deps.evalRuns.newestFirst(id, kind, range)) {
    const last = found.at(-1);
    if (!fits(run)) continue;
    if (found.length === limit && last) return { items: found.map(toItem), next_cursor: String(last.startedUs) };
    found.push(await withoutAbandoned(deps, run));
  }
  return { items: found.map(toItem), next_cursor: '' };
}
