import type { EndedBy, ExplainView, GivesUp, Owner, RunWait } from '@svc/contract';
import { isRunEnded, type RunEnd } from '@svc/lifecycle';
import type { RunState, WorkflowDefinition } from '@svc/workflow';
import { iso } from './job-facts';
import { runChecksOf } from './run-checks';
import { placesOf, type RunAround, type RunFacts, type StepJob } from './run-facts';
import { stepsOf } from './run-steps';
import { waitOf } from './run-waits';
import { wholeWaits } from './run-level-waits';

const mostWaits = 100;

/**
 * Why a run is where it is: a pure function.
 *
 * @param jobs explanations of the jobs of its live steps, by job id; a job that is not there is told of without reasons
 */
export function explainRun(
  definition: WorkflowDefinition,
  run: RunState,
  jobs: ReadonlyMap<string, StepJob>,
  around: RunAround,
): ExplainView {
  const facts: RunFacts = { definition, run, jobs, ...around };
  const isOver = isRunEnded(run.status);
  const waits = isOver ? [] : [...wholeWaits(facts), ...placesOf(definition, run).flatMap((place) => waitOf(facts, place) ?? [])]; // prettier-ignore
  const blockedBy = waits.find(({ under_way, kind }) => !under_way && kind !== 'dependency') ?? null;
  const failed = isOver ? failedStep(facts) : undefined;
  return {
    run_id: run.id,
    workflow_id: run.workflow_id,
    status: run.status,
    summary: summaryOf(facts, waits, blockedBy),
    blocked_by: blockedBy,
    waits: waits.slice(0, mostWaits),
    more_waits: Math.max(0, waits.length - mostWaits),
    checks: runChecksOf(facts, waits, blockedBy),
    steps: stepsOf(facts, waits),
    gives_up: givesUpOf(facts),
    explained_at: iso(around.nowMs),
    ...(isRunEnded(run.status) && { ended_by: endedBy(facts, run.status, failed) }),
    ...(failed !== undefined && { failed_step: failed }),
    ...(run.error && { error: run.error }),
  };
}

const named = ({ step_id, what }: RunWait): string => (step_id === undefined ? what : `${step_id}: ${what}`);

function summaryOf({ run }: RunFacts, waits: readonly RunWait[], blockedBy: RunWait | null): string {
  if (isRunEnded(run.status)) return `It ended ${run.status}${run.error ? `: ${run.error.message}` : ''}.`;
  if (blockedBy) return `It waits for ${named(blockedBy)}.`;
  const [first, ...more] = waits.filter(({ under_way }) => under_way);
  if (!first) return 'An engine goes on with it.';
  return `It goes on: ${named(first)}${more.length > 0 ? `, and ${more.length} more` : ''}.`;
}

const isBadEnd = (status: string | undefined): boolean =>
  status === 'failed' || status === 'denied' || status === 'timed_out';

/** The first step that failed, was not made good by its handler, and so failed the run. */
function failedStep({ definition, run }: RunFacts): string | undefined {
  const bad = placesOf(definition, run).filter(
    ({ path, step, record }) => path === step && isBadEnd(record.status) && record.settled === 'bad',
  );
  const earliest = bad.sort((a, b) => (a.record.completed_at_ms ?? 0) - (b.record.completed_at_ms ?? 0));
  return earliest[0]?.path;
}

/** The definition's own time, else that of the timeouts file. */
const deadlineOwner = ({ definition, run }: RunFacts): Owner =>
  definition.timeout_sec > 0
    ? { kind: 'run', id: 'timeout_sec', value: definition.timeout_sec }
    : { kind: 'setting', id: `timeouts.yaml: workflows.${run.workflow_id}.total_timeout_seconds` };

function givesUpOf(facts: RunFacts): GivesUp | null {
  const { run } = facts;
  if (run.deadline_ms === undefined || isRunEnded(run.status) || run.ending) return null;
  return { at: iso(run.deadline_ms), as: 'timed_out', owner: deadlineOwner(facts) };
}

function endedBy(facts: RunFacts, status: RunEnd, failed: string | undefined): EndedBy {
  const { run } = facts;
  return {
    at: run.completed_at_ms === undefined ? null : iso(run.completed_at_ms),
    code: run.error?.code ?? status,
    what: run.error?.message ?? `it ended ${status}`,
    owner: whoEnded(facts, failed),
  };
}

function whoEnded(facts: RunFacts, failed: string | undefined): Owner {
  switch (facts.run.error?.code) {
    case 'run_timeout':
      return deadlineOwner(facts);
    case 'cancelled':
    case 'workflow_deleted':
      return { kind: 'caller', id: '' };
    default:
      return failed === undefined ? { kind: 'run', id: facts.run.id } : { kind: 'step', id: failed };
  }
}
