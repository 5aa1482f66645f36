import { isStepEnded } from '@svc/lifecycle';
import type { JsonObject, LiveRunStatus, RunCreation } from '@svc/store';
import type { Plan, RunEvent, RunState, WorkflowDefinition } from '@svc/workflow';
import { liveRunStatuses } from '@svc/store';
import type { PreparedJob } from './accept-job';
import { buildTimers, needsExecution, planTurn } from './plan-turn';
import { changedFields, newFields, toHeader } from './run-codec';
import type { TurnDeps } from './run-deps';
import { treeChanges } from './run-tree';
import { prepareTurnJobs } from './turn-jobs';

/** Bounds the time for which the plan of one start occupies the gateway. */
const MAX_STEPS = 64;

/** The first turn of a new run, for the call that creates the run. */
export interface FirstTurnPlan {
  creation: Pick<RunCreation, 'status' | 'header' | 'steps' | 'events' | 'start' | 'turn'>;
  jobs: readonly PreparedJob[];
}

/**
 * Plans the first turn of a new run, and prepares its jobs. Undefined when the turn does more than start jobs and set timers:
 * then an engine takes it. A step that fails here, for example because its expression is too expensive for this process, is
 * also left to the engine. See docs/adr/0020-a-turn-is-one-call.md.
 *
 * @param nowUs Redis' clock, before the call
 */
export async function planFirstTurn(
  deps: TurnDeps,
  definition: WorkflowDefinition,
  run: RunState,
  nowUs: number,
): Promise<FirstTurnPlan | undefined> {
  if (!deps.placement || Object.keys(definition.steps).length > MAX_STEPS) return undefined;
  const nowMs = Math.floor(nowUs / 1_000);
  const events: RunEvent[] = [{ kind: 'start' }];
  const { planned } = await planTurn(deps, { definition, before: run, events, nowMs, acted: [] });
  const status = liveRunStatuses.find((live) => live === planned.run.status);
  if (!status || hasEndedSteps(planned)) return undefined;
  const jobs = await prepareTurnJobs(
    deps,
    { run: planned.run, definition, nowMs },
    planned.actions.filter(needsExecution),
  );
  if (!jobs?.length) return undefined;
  return { creation: toCreation(definition, run, planned, status, jobs), jobs };
}

/** The ends of steps are counted by the engine. */
const hasEndedSteps = ({ run, changed }: Plan): boolean =>
  changed.some((path) => Object.hasOwn(run.steps, path) && isStepEnded(run.steps[path]?.status ?? 'pending'));

function toCreation(
  definition: WorkflowDefinition,
  before: RunState,
  { run, changed, events, actions, isUnfinished }: Plan,
  status: LiveRunStatus,
  jobs: readonly PreparedJob[],
): FirstTurnPlan['creation'] {
  const steps: ReadonlyMap<string, JsonObject> = new Map([
    ...newFields(before),
    ...changedFields(before, run, changed).steps,
  ]);
  const next: RunEvent = { kind: 'continue' };
  return {
    status,
    header: toHeader(run),
    steps,
    events: events.map((event) => ({ ...event })),
    start: { ...next },
    turn: {
      jobs: jobs.map(({ acceptance }) => acceptance),
      timers: buildTimers(actions).set ?? [],
      tree: treeChanges(definition, before, run, changed),
      ...(isUnfinished && { continues: true }),
    },
  };
}
