import type { RunWait, StepExplanation } from '@svc/contract';
import { isStepEnded } from '@svc/lifecycle';
import { getGraph, getStepType, type StepRun } from '@svc/workflow';
import { listDependencies, isComposite, type StepPlace, listStepPlaces, type RunFacts } from './run-facts';

/** Explains each step, including those not begun; items of fan-outs are omitted. */
export function explainSteps(facts: RunFacts, waits: readonly RunWait[]): StepExplanation[] {
  const { definition, run } = facts;
  const begun = new Map(listStepPlaces(definition, run).map((place) => [place.path, place]));
  return getGraph(definition).order.flatMap((id): StepExplanation[] => {
    const def = definition.steps[id];
    if (!def) return [];
    const place = begun.get(id);
    const wait = waits.find(({ step_id }) => step_id === id);
    return [
      {
        step_id: id,
        step_type: getStepType(def),
        status: place?.record.status ?? 'pending',
        why: place ? (wait?.what ?? explainBegun(facts, place)) : whyNotBegun(facts, id),
        depends_on: listDependencies(definition, id).map((dep) => toDependency(run.steps[dep], dep)),
        ...toDecision(facts, place),
      },
    ];
  });
}

const toDependency = (record: StepRun | undefined, step_id: string): StepExplanation['depends_on'][number] => ({
  step_id,
  status: record?.status ?? 'pending',
  satisfied: record?.settled === 'ok' || record?.settled === 'neutral',
});

function toDecision({ jobs }: RunFacts, place: StepPlace | undefined): Pick<StepExplanation, 'rule_id' | 'decision'> {
  const decision = jobs.get(place?.record.job_id ?? '')?.decision;
  return decision
    ? { decision: decision.decision, ...(decision.rule_id !== undefined && { rule_id: decision.rule_id }) }
    : {};
}

function whyNotBegun({ definition, run }: RunFacts, id: string): string {
  const owner = getGraph(definition).ownerOf.get(id);
  if (owner !== undefined) return `${owner} has not begun it`;
  return run.status === 'pending' ? 'the run has not begun' : 'it has not begun';
}

function explainBegun({ definition }: RunFacts, place: StepPlace): string {
  const { record, step } = place;
  if (isStepEnded(record.status)) return whyEnded(record);
  const handles = getGraph(definition).handles.get(step);
  if (handles && record.handles === undefined) return `it begins only if ${handles.join(' or ')} fails`;
  if (!isComposite(place)) return 'an engine is processing it';
  const { begun = 0, live = 0, ok = 0, bad = 0 } = record.progress ?? {};
  return `${begun} of its items or child steps have begun: ${live} live, ${ok} succeeded, ${bad} failed`;
}

function whyEnded({ status, skip_reason, error, attempts, compensated }: StepRun): string {
  const undone = compensated ? ' and was compensated' : '';
  if (status === 'succeeded') return `it succeeded${attempts > 1 ? ` at attempt ${attempts}` : ''}${undone}`;
  if (skip_reason !== undefined) return reasons[skip_reason] ?? toReason(skip_reason);
  return `${error?.message ?? status}${attempts > 1 ? ` (attempt ${attempts})` : ''}`;
}

/** Texts for the skip reasons of the planner. See docs/reference/workflows.md#how-a-run-proceeds. */
const reasons: Readonly<Record<string, string>> = {
  condition_false: 'its condition did not hold',
  no_dependency_succeeded: 'none of the steps it depends on succeeded',
  switch_branch_not_taken: 'the switch took another branch',
  not_activated: 'no step that it handles failed',
  not_needed: 'enough other steps had succeeded',
  unreachable: 'it and another step wait for each other',
  run_ended: 'the run ended before it began',
  run_failed: 'the run failed',
  run_cancelled: 'the run was cancelled',
  run_timed_out: 'the run timed out',
  workflow_deleted: 'the workflow was deleted',
};

const toReason = (reason: string): string =>
  reason.startsWith('dependency_failed:') ? `${reason.slice('dependency_failed:'.length)}, which it depends on, failed` : reason; // prettier-ignore
