import { AppError, type EvalEntry } from '@svc/contract';
import { compareEvals, scoreEntry, summarizeScores } from '@svc/policy';
import type { ExecuteDeps } from './eval-deps';
import { evaluateEntries } from './evaluate-entries';
import type { ChosenPolicy, PolicyOutcomes, StoredRun } from './run.repository';

/** Entries between two updates of the progress. */
const progressEvery = 512;
/** While policy is unavailable, a queued run is tried again for this long. */
const MAX_WAIT_US = 1_500_000_000;
const retryMs = 5_000;

/** Evaluates a queued run. Safe to repeat: a run that has ended is left alone, and one that was begun starts over. */
export async function executeEvalRun(deps: ExecuteDeps, id: string): Promise<{ retryInMs: number } | undefined> {
  const [run, policies] = await Promise.all([deps.evalRuns.load(id), deps.evalRuns.policies(id)]);
  if (!run || !policies) return undefined;
  const begun = await deps.evalRuns.move(id, 'begin');
  if (begun === 'busy') {
    await failRun(deps, id, 'another run of the dataset began');
    return undefined;
  }
  if (begun !== 'moved') return undefined;
  // After a crash from here on, the queue entry is delivered again and the run starts over.
  try {
    await evaluateRun(deps, run, policies);
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const mayRetry = isUnavailable(error) && deps.clock.nowUs() - run.startedUs < MAX_WAIT_US;
    if (mayRetry) return { retryInMs: retryMs };
    await failRun(deps, id, error.message);
    return undefined;
  }
}

const isUnavailable = ({ errorCode }: AppError) =>
  errorCode === 'safety_unavailable' || errorCode === 'upstream_service_error';

/** The reason of a failure is shown with the run. */
export const failRun = (deps: Pick<ExecuteDeps, 'evalRuns'>, id: string, error: string): Promise<unknown> =>
  deps.evalRuns.move(id, 'fail', { error });

/**
 * Evaluates the policies of a run that has begun, and ends it with the result.
 *
 * @returns the results; undefined when the run ended or was removed in between
 * @throws eval_dataset_not_found, eval_storage_full, and the codes of `evaluateEntries`
 */
export async function evaluateRun(
  deps: ExecuteDeps,
  run: StoredRun,
  policies: readonly ChosenPolicy[],
): Promise<PolicyOutcomes[] | undefined> {
  const all = await deps.datasets.entries(run.dataset);
  if (!all) throw new AppError('eval_dataset_not_found');
  const entries = all.slice(0, run.total);
  const results: PolicyOutcomes[] = [];
  for (const [i, policy] of policies.entries()) {
    const onProgress = reportProgress(deps, run, (evaluated) => (i * entries.length + evaluated) / policies.length);
    const evaluated = await evaluateEntries(deps, run.tenant, entries, policy, onProgress);
    if (!evaluated) return undefined;
    results.push(evaluated);
  }
  const set = { evaluated: String(run.total), snapshots: JSON.stringify(results.map(({ snapshot }) => snapshot)) };
  const outcome = await deps.evalRuns.complete(run.id, deps.random.uuid(), results, { ...set, ...summarize(run, entries, results) }); // prettier-ignore
  if (outcome === 'full') throw new AppError('eval_storage_full', { limit: 'stored_bytes' });
  return outcome === 'moved' ? results : undefined;
}

/** Writes the progress now and then. Resolves to false when the run is no longer in progress. */
function reportProgress({ evalRuns }: ExecuteDeps, { id }: StoredRun, toEvaluated: (count: number) => number) {
  let next = progressEvery;
  return async (count: number): Promise<boolean> => {
    if (count < next) return true;
    next += progressEvery;
    return (await evalRuns.move(id, 'progress', { evaluated: String(Math.floor(toEvaluated(count))) })) === 'moved';
  };
}

/** The fields that lists of runs show. */
function summarize(
  { kind }: StoredRun,
  entries: readonly EvalEntry[],
  results: readonly PolicyOutcomes[],
): Record<string, string> {
  // prettier-ignore
  if (kind === 'comparison') return { counts: JSON.stringify(compareEvals(toCompared(entries, results)).counts) };
  const outcomes = results[0]?.outcomes ?? [];
  const scores = outcomes.map((outcome, i) => scoreEntry(entries[i]?.expected_decision ?? 'DENY', outcome));
  return { summary: JSON.stringify(summarizeScores(scores)) };
}

/** The entries of a dataset with the outcomes of the two policies of a comparison. */
export function toCompared(entries: readonly EvalEntry[], [left, right]: readonly PolicyOutcomes[]) {
  const none = { kind: 'failed', error: 'not evaluated' } as const;
  return entries.map((entry, i) => ({
    entryId: entry.id,
    expected: entry.expected_decision,
    left: left?.outcomes[i] ?? none,
    right: right?.outcomes[i] ?? none,
  }));
}
