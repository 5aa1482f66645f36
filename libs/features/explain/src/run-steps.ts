import type { RunWait, StepExplanation } from '@svc/contract';
import { isStepEnded } from '@svc/lifecycle';
import { graphOf, typeOf, type StepRun } from '@svc/workflow';
import { dependenciesOf, isMadeOfParts, type Place, placesOf, type RunFacts } from './run-facts';

/** How each step came to be where it is; those not yet begun too, items of fan-outs not. */
export function stepsOf(facts: RunFacts, waits: readonly RunWait[]): StepExplanation[] {
  const { definition, run } = facts;
  const begun = new Map(placesOf(definition, run).map((place) => [place.path, place]));
  return graphOf(definition).order.flatMap((id): StepExplanation[] => {
    const def = definition.steps[id];
    if (!def) return [];
    const place = begun.get(id);
    const wait = waits.find(({ step_id }) => step_id === id);
    return [
      {
        step_id: id,
        step_type: typeOf(def),
        status: place?.record.status ?? 'pending',
        why: place ? (wait?.what ?? whyOf(facts, place)) : whyNotBegun(facts, id),
        depends_on: dependenciesOf(definition, id).map((dep) => dependencyOf(run.steps[dep], dep)),
        ...decisionOf(facts, place),
      },
    ];
  });
}

const dependencyOf = (record: StepRun | undefined, step_id: string): StepExplanation['depends_on'][number] => ({
  step_id,
  status: record?.status ?? 'pending',
  satisfied: record?.settled === 'ok' || record?.settled === 'neutral',
});

function decisionOf({ jobs }: RunFacts, place: Place | undefined): Pick<StepExplanation, 'rule_id' | 'decision'> {
  const decision = jobs.get(place?.record.job_id ?? '')?.decision;
  return decision
    ? { decision: decision.decision, ...(decision.rule_id !== undefined && { rule_id: decision.rule_id }) }
    : {};
}

function whyNotBegun({ definition, run }: RunFacts, id: string): string {
  const owner = graphOf(definition).ownerOf.get(id);
  if (owner !== undefined) return `${owner} has not begun it`;
  return run.status === 'pending' ? 'the run has not begun' : 'it has not begun';
}

function whyOf({ definition }: RunFacts, place: Place): string {
  const { record, step } = place;
  if (isStepEnded(record.status)) return whyEnded(record);
  const handles = graphOf(definition).handles.get(step);
  if (handles && record.handles === undefined) return `it begins only if ${handles.join(' or ')} fails`;
  if (!isMadeOfParts(place)) return 'an engine is at it';
  const { begun = 0, live = 0, ok = 0, bad = 0 } = record.progress ?? {};
  return `of its parts ${begun} were begun, ${live} are under way, ${ok} succeeded and ${bad} failed`;
}

function whyEnded({ status, skip_reason, error, attempts, compensated }: StepRun): string {
  const undone = compensated ? ', and was undone' : '';
  if (status === 'succeeded') return `it succeeded${attempts > 1 ? ` at try ${attempts}` : ''}${undone}`;
  if (skip_reason !== undefined) return reasons[skip_reason] ?? reasonOf(skip_reason);
  return `${error?.message ?? status}${attempts > 1 ? ` (try ${attempts})` : ''}`;
}

/** Why steps are passed over, as the planner calls it. See docs/reference/workflows.md#how-a-run-proceeds. */
const reasons: Readonly<Record<string, string>> = {
  condition_false: 'its condition did not hold',
  no_dependency_succeeded: 'none of the steps it depends on succeeded',
  switch_branch_not_taken: 'the switch took another branch',
  not_activated: 'nothing failed that it handles',
  not_needed: 'enough others had succeeded',
  unreachable: 'it and another step wait for each other',
  run_ended: 'the run ended before it began',
  run_failed: 'the run failed',
  run_cancelled: 'the run was cancelled',
  run_timed_out: 'the run was out of time',
  workflow_deleted: 'the workflow was deleted',
};

const reasonOf = (reason: string): string =>
  reason.startsWith('dependency_failed:') ? `${reason.slice('dependency_failed:'.length)}, which it depends on, failed` : reason; // prettier-ignore
