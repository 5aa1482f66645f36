import type { EndedBy, ExplainView, GivesUp, Owner, RunWait } from '@svc/contract';
import { isRunEnded, type RunEnd } from '@svc/lifecycle';
import type { RunState, WorkflowDefinition } from '@svc/workflow';
import { iso } from './job-facts';
import { buildRunChecks } from './run-checks';
import { listStepPlaces, type RunExplainContext, type RunFacts, type StepJob } from './run-facts';
import { explainSteps } from './run-steps';
import { explainWait } from './run-waits';
import { runLevelWaits } from './run-level-waits';

const maxWaits = 100;

/**
 * Explains the state of a run. Pure.
 *
 * @param jobs explanations of the jobs of its live steps, by job id; a job without one is listed without reasons
 */
export function explainRun(
  definition: WorkflowDefinition,
  run: RunState,
  jobs: ReadonlyMap<string, StepJob>,
  context: RunExplainContext,
): ExplainView {
  const facts: RunFacts = { definition, run, jobs, ...context };
  const isOver = isRunEnded(run.status);
  const waits = isOver ? [] : [...runLevelWaits(facts), ...listStepPlaces(definition, run).flatMap((place) => explainWait(facts, place) ?? [])]; // prettier-ignore
  const blockedBy = waits.find(({ under_way, kind }) => !under_way && kind !== 'dependency') ?? null;
  const failed = isOver ? failedStep(facts) : undefined;
  return {
    run_id: run.id,
    workflow_id: run.workflow_id,
    status: run.status,
    summary: summarize(facts, waits, blockedBy),
    blocked_by: blockedBy,
    waits: waits.slice(0, maxWaits),
    more_waits: Math.max(0, waits.length - maxWaits),
    checks: buildRunChecks(facts, waits, blockedBy),
    steps: explainSteps(facts, waits),
    gives_up: findGiveUp(facts),
    explained_at: iso(context.nowMs),
    ...(isRunEnded(run.status) && { ended_by: endedBy(facts, run.status, failed) }),
    ...(failed !== undefined && { failed_step: failed }),
    ...(run.error && { error: run.error }),
  };
}

const toLabel = ({ step_id, what }: RunWait): string => (step_id === undefined ? what : `${step_id}: ${what}`);

function summarize({ run }: RunFacts, waits: readonly RunWait[], blockedBy: RunWait | null): string {
  if (isRunEnded(run.status)) return `It ended ${run.status}${run.error ? `: ${run.error.message}` : ''}.`;
  if (blockedBy) return `It waits for ${toLabel(blockedBy)}.`;
  const [first, ...more] = waits.filter(({ under_way }) => under_way);
  if (!first) return 'An engine is processing it.';
  return `It is in progress: ${toLabel(first)}${more.length > 0 ? `, and ${more.length} more` : ''}.`;
}

const isFailure = (status: string | undefined): boolean =>
  status === 'failed' || status === 'denied' || status === 'timed_out';

/** The first step whose failure no handler recovered, and which failed the run. */
function failedStep({ definition, run }: RunFacts): string | undefined {
  const bad = listStepPlaces(definition, run).filter(
    ({ path, step, record }) => path === step && isFailure(record.status) && record.settled === 'bad',
  );
  const earliest = bad.sort((a, b) => (a.record.completed_at_ms ?? 0) - (b.record.completed_at_ms ?? 0));
  return earliest[0]?.path;
}

/** The definition's timeout, else the one in the timeouts file. */
const deadlineOwner = ({ definition, run }: RunFacts): Owner =>
  definition.timeout_sec > 0
    ? { kind: 'run', id: 'timeout_sec', value: definition.timeout_sec }
    : { kind: 'setting', id: `timeouts.yaml: workflows.${run.workflow_id}.total_timeout_seconds` };

function findGiveUp(facts: RunFacts): GivesUp | null {
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
    owner: findEndOwner(facts, failed),
  };
}

function findEndOwner(facts: RunFacts, failed: string | undefined): Owner {
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
