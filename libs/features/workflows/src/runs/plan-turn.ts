import { isRunEnded } from '@svc/lifecycle';
import { mergeConfig } from '@svc/policy';
import type { RunSave } from '@svc/store';
import {
  defaultPlanLimits,
  planEvents,
  type Action,
  type Plan,
  type PlanLimits,
  type RunEvent,
  type RunState,
  type WorkflowDefinition,
} from '@svc/workflow';
import { numberAt } from '@svc/settings';
import { toConfigScope } from './accept-job';
import { changedFields, toHeader } from './run-codec';
import type { RunDeps, TurnDeps } from './run-deps';
import { treeChanges } from './run-tree';
import { buildSchemaCheck } from './schema-check';
import { MAX_TURN_JOBS, prepareTurnJobs, saveAdmitted, settleJobs } from './turn-jobs';

/** A turn of a run: its plan, and the state that the plan is based on. */
export interface Turn {
  before: RunState;
  definition: WorkflowDefinition;
  planned: Plan;
  /** Redis' clock. */
  nowMs: number;
}

/** The definition of a run; enough to end the run when it is missing, which should not happen. */
export async function findDefinition(deps: RunDeps, run: RunState): Promise<WorkflowDefinition | undefined> {
  const { org_id, workflow_id, workflow_revision = 1, workflow_written_at } = run;
  return deps.definitions.find(org_id, workflow_id, workflow_revision, workflow_written_at);
}

/** Replaces a missing definition (should not happen while a run references it): enough to end the run. */
export const emptyDefinition = (run: RunState): WorkflowDefinition => ({
  id: run.workflow_id,
  org_id: run.org_id,
  name: run.workflow_id,
  timeout_sec: 0,
  steps: {},
});

export interface PlanInput {
  definition: WorkflowDefinition;
  before: RunState;
  events: readonly RunEvent[];
  nowMs: number;
  /** Ids of actions that were executed. */
  acted: readonly string[];
}

/** Plans the events in order. */
export async function planTurn(deps: TurnDeps, input: PlanInput): Promise<Turn> {
  const { definition, before, events, nowMs, acted } = input;
  const limits = await getLimits(deps, before, definition);
  const checkSchema = await buildSchemaCheck(deps.schemas, before.org_id, definition);
  const random = () => deps.random.number();
  const none = { run: before, actions: [], events: [], changed: [], isUnfinished: false };
  const request = {
    definition,
    run: before,
    events,
    nowMs,
    limits,
    random,
    acted,
    ...(checkSchema && { checkSchema }),
  };
  const plan = events.length > 0 ? planEvents(request) : none;
  const planned = { ...plan, run: withoutTimers(plan.run, before) };
  return { before, definition, planned, nowMs };
}

/** Drops timers from the outbox: they are written with the run. */
function withoutTimers(run: RunState, before: RunState): RunState {
  if (run === before) return run;
  const outbox = Object.entries(run.outbox).filter(([id]) => !id.startsWith('set:') && !id.startsWith('clear:'));
  return { ...run, outbox: Object.fromEntries(outbox) };
}

/** The state of a run that a turn was planned on; the save is refused if it has changed. */
export interface TurnClaim {
  /** Owner of the lock of the run, or of the save of a turn without a lock. */
  owner: string;
  revision: number;
  /** Number of inbox events that were read. */
  inboxSize: number;
  /** The turn was planned without the lock: nothing may remain to be executed after the save. */
  isUnlocked?: boolean;
  /** Actions of an earlier turn may be repeated in this one, so they are executed one by one. */
  isRepeat?: boolean;
  lease?: { setRenewing(held: boolean): void };
}

/**
 * `acting`: actions remain to be executed. `fenced`: another process changed or owns the run. `declined`: the turn needs the
 * lock, and nothing was saved.
 */
export type SavedTurn = { revision: number; sleeps: boolean; acting: boolean } | 'fenced' | 'declined';

/** Saves a turn, with its jobs if it does nothing else; otherwise its actions remain to be executed. */
export async function saveTurn(deps: RunDeps, turn: Turn, claim: TurnClaim): Promise<SavedTurn> {
  const { before, definition, planned, nowMs } = turn;
  const { run } = planned;
  const { lease, isUnlocked = false } = claim;
  const remaining = planned.actions.filter(needsExecution);
  const mayAcceptJobs = !claim.isRepeat || remaining.length === 0;
  const jobs = mayAcceptJobs ? await prepareTurnJobs(deps, { run, definition, nowMs }, remaining) : undefined;
  const document = toSave(deps, turn, claim);
  const save = (over: Partial<RunSave>) => {
    lease?.setRenewing(over.acting === true);
    return deps.store.runs.save({ ...document, ...over });
  };
  const complete = { closes: true, jobs: (jobs ?? []).map(({ acceptance }) => acceptance) };
  const completed = jobs && (await saveAdmitted(deps, jobs, () => save(complete)));
  if (!completed && isUnlocked) return 'declined';
  const outcome = completed ?? (await save({ acting: true }));
  if (outcome.kind !== 'saved') {
    if (outcome.kind !== 'busy') deps.memory.forget(run.id);
    return 'fenced';
  }
  lease?.setRenewing(!outcome.sleeps);
  if (completed && jobs) settleJobs(deps, jobs, outcome.placed);
  cacheRun(deps, run, outcome.revision);
  for (const path of planned.changed) reportStepEnd(deps, definition, before, run, path);
  if (isRunEnded(run.status)) reportRunEnd(deps, run);
  return { revision: outcome.revision, sleeps: outcome.sleeps, acting: !completed };
}

function toSave(
  { settings }: RunDeps,
  { before, definition, planned }: Turn,
  { owner, revision, inboxSize, isUnlocked }: TurnClaim,
): RunSave {
  const { run } = planned;
  const fields = changedFields(before, run, planned.changed);
  const { status } = run;
  return {
    id: run.id,
    revision,
    owner,
    home: settings.instanceId,
    token: `${owner}:${revision}`,
    ...(isUnlocked && { isUnlocked }),
    header: toHeader(run),
    steps: fields.steps,
    removed: fields.removed,
    events: planned.events.map((event) => ({ ...event })),
    processedEvents: inboxSize,
    ...(planned.isUnfinished && { post: { kind: 'continue' } satisfies RunEvent }),
    timers: buildTimers(planned.actions),
    tree: treeChanges(definition, before, run, planned.changed),
    ...(status !== before.status && {
      status: isRunEnded(status) ? { to: status, keepSec: settings.keepSec } : { to: status },
    }),
    ...(isRunEnded(status) && status !== 'succeeded' && { reason: run.error?.message ?? status }),
  };
}

/** Timers are written with the run; only the end of a child run is reported. */
export const needsExecution = (action: Action): boolean =>
  action.kind !== 'setTimer' &&
  action.kind !== 'clearTimer' &&
  !(action.kind === 'finished' && action.parentKey === undefined);

function cacheRun(deps: RunDeps, run: RunState, revision: number): void {
  if (isRunEnded(run.status)) return deps.memory.forget(run.id);
  const steps = Object.values(run.steps);
  const items = steps.reduce((sum, step) => sum + (step.children?.length ?? 0), 0);
  // An estimate: measuring the size would cost as much as the pass.
  deps.memory.keep(run.id, { revision, run, bytes: 2_048 + 1_024 * (steps.length + items) });
}

/** The last action for each timer. */
export function buildTimers(actions: readonly Action[]): NonNullable<RunSave['timers']> {
  const set = new Map<string, { member: string; dueMs: number; queue: string }>();
  const clear = new Set<string>();
  for (const action of actions) {
    if (action.kind === 'setTimer') {
      clear.delete(action.timerId);
      set.set(action.timerId, { member: action.timerId, dueMs: action.atMs, queue: 'runTimers' });
    } else if (action.kind === 'clearTimer') {
      set.delete(action.timerId);
      clear.add(action.timerId);
    }
  }
  return { set: [...set.values()], clear: [...clear] };
}

/** A definition's own config is merged last, as the narrowest document; it can only tighten the others. */
async function getLimits(deps: TurnDeps, run: RunState, definition: WorkflowDefinition): Promise<PlanLimits> {
  const config = mergeConfig([
    { scope: 'org', data: (await deps.config.at(toConfigScope(run))) ?? {} },
    { scope: 'workflow', data: definition.config ?? {} },
  ]);
  const timeouts = deps.fleet.timeouts().workflows[run.workflow_id];
  return {
    ...defaultPlanLimits,
    maxDispatches: MAX_TURN_JOBS,
    maxItems: deps.settings.maxItems,
    expressions: deps.settings.expressions,
    maxParallelSteps: numberAt(config, 'resources', 'max_parallel_steps') ?? defaultPlanLimits.maxParallelSteps,
    runTimeoutMs: (timeouts?.total_timeout_seconds ?? 0) * 1_000,
    defaultMaxRetries: timeouts?.max_retries ?? defaultPlanLimits.defaultMaxRetries,
  };
}

function reportRunEnd(deps: RunDeps, run: RunState): void {
  if (!isRunEnded(run.status)) return;
  deps.events.ended(run.workflow_id, run.status, (run.completed_at_ms ?? 0) - run.created_at_ms);
}

function reportStepEnd(
  deps: RunDeps,
  definition: WorkflowDefinition,
  before: RunState,
  after: RunState,
  path: string,
): void {
  if (!Object.hasOwn(definition.steps, path)) return;
  const [was, is] = [before.steps[path], after.steps[path]];
  if (is?.completed_at_ms === undefined || is.completed_at_ms === was?.completed_at_ms) return;
  deps.events.stepEnded(definition.steps[path]?.type ?? 'worker', is.status);
}
