import { buildAudit } from '@svc/audit';
import {
  AppError,
  evalLimits,
  type Caller,
  type ComparisonBody,
  type ComparisonResult,
  type ComparisonStarted,
  type EvalRunBody,
  type EvalRunResult,
  type EvalStarted,
} from '@svc/contract';
import { choosePolicy } from './choose-policy';
import type { EvalDeps } from './eval-deps';
import { evaluateRun, failRun } from './execute-run';
import { requireDataset } from './read-datasets';
import { requireComparisonResult, requireRunResult } from './read-runs';
import type { ChosenPolicy, RunKind, StoredRun } from './run.repository';

/** A run that has ended, or continues in the background. */
export type RunOutcome<Result, Started> = { kind: 'ended'; result: Result } | { kind: 'queued'; started: Started };

/**
 * Evaluates a policy on a dataset: in this call up to 500 entries, else in the background.
 * See docs/reference/evals.md#runs.
 *
 * @throws eval_dataset_not_found, eval_run_not_runnable, eval_run_conflict, eval_storage_full, rate_limited,
 *   policy_validation_failed, request_too_large, safety_unavailable, upstream_service_error
 */
export async function startEvalRun(
  deps: EvalDeps,
  caller: Caller,
  datasetId: string,
  body: EvalRunBody,
): Promise<RunOutcome<EvalRunResult, EvalStarted>> {
  const policies = async () => [await choosePolicy(deps, caller, body)];
  const run = await start(deps, caller, datasetId, { kind: 'run', policies, maxEntries: body.max_entries });
  const { id } = run;
  if (run.status !== 'running') {
    return { kind: 'queued', started: { run_id: id, status: 'pending', poll_url: `/api/v1/evals/runs/${id}` } };
  }
  return { kind: 'ended', result: await requireRunResult(deps, caller, id) };
}

/** Compares two policies on a dataset, like a run. @throws the codes of `startEvalRun` */
export async function startComparison(
  deps: EvalDeps,
  caller: Caller,
  datasetId: string,
  { left, right, max_entries }: ComparisonBody,
): Promise<RunOutcome<ComparisonResult, ComparisonStarted>> {
  const policies = async () => [await choosePolicy(deps, caller, left), await choosePolicy(deps, caller, right)];
  const run = await start(deps, caller, datasetId, { kind: 'comparison', policies, maxEntries: max_entries });
  const { id } = run;
  if (run.status !== 'running') {
    const poll_url = `/api/v1/evals/comparisons/${id}`;
    return { kind: 'queued', started: { comparison_id: id, status: 'pending', poll_url } };
  }
  return { kind: 'ended', result: await requireComparisonResult(deps, caller, id) };
}

interface WantedRun {
  kind: RunKind;
  policies(): Promise<ChosenPolicy[]>;
  maxEntries: number | undefined;
}

/** Starts a run, and evaluates it if it is small. */
async function start(
  deps: EvalDeps,
  caller: Caller,
  datasetId: string,
  { kind, policies: resolve, maxEntries = evalLimits.entries }: WantedRun,
): Promise<StoredRun> {
  const dataset = await requireDataset(deps, caller, datasetId);
  const policies = await resolve();
  const { tenant, name, version } = dataset;
  const total = Math.min(maxEntries, dataset.entry_count);
  const head = { dataset_name: name, dataset_version: version, total, policies: policies.map(({ view }) => view) };
  const id = deps.random.uuid();
  const queued = total > evalLimits.entriesAtOnce;
  const audit = buildAudit(deps, caller, {
    action: 'run',
    resource_type: 'eval_dataset',
    resource_id: datasetId,
    resource_name: name,
    extra: { run_id: id, kind, version: String(version) },
  });
  const outcome = await deps.evalRuns.start({ id, tenant, kind, dataset: datasetId, head, policies, queued, audit });
  if (outcome.kind !== 'started') throw toStartError(outcome);
  const status = queued ? ('pending' as const) : ('running' as const);
  const run: StoredRun = {
    ...head,
    id,
    tenant,
    kind,
    dataset: datasetId,
    status,
    evaluated: 0,
    startedUs: outcome.startedUs,
  };
  // After a crash here, a queued run is evaluated by its entry; any other loses its lock and becomes failed.
  if (!queued) await evaluateNow(deps, run, policies);
  return run;
}

/** @throws the codes of `evaluateRun`; the run is then failed */
async function evaluateNow(deps: EvalDeps, run: StoredRun, policies: ChosenPolicy[]): Promise<void> {
  try {
    await evaluateRun(deps, run, policies);
  } catch (error) {
    await failRun(deps, run.id, error instanceof AppError ? error.message : 'the run failed');
    throw error;
  }
}

function toStartError(outcome: { kind: 'missing' | 'busy' | 'full' } | { kind: 'limited'; waitMs: number }): AppError {
  switch (outcome.kind) {
    case 'missing':
      return new AppError('eval_dataset_not_found');
    case 'busy':
      return new AppError('eval_run_conflict');
    case 'full':
      return new AppError('eval_storage_full', { limit: 'stored_bytes' });
    case 'limited':
      return toRateError(outcome.waitMs, evalLimits.runsPerHour);
  }
}

/** The error of a tenant that has used its starts of the hour. */
export const toRateError = (waitMs: number, perHour: number): AppError =>
  new AppError('rate_limited', { limit_per_hour: perHour }, { 'Retry-After': String(Math.ceil(waitMs / 1_000)) });
