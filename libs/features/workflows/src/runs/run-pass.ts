import { isRunEnded } from '@svc/lifecycle';
import { mergeConfig } from '@svc/policy';
import { keys, type OpenOutcome, type RunSave } from '@svc/store';
import {
  defaultPlanLimits,
  plan,
  type Action,
  type Plan,
  type PlanLimits,
  type RunEvent,
  type RunState,
  type SchemaCheck,
  type TimelineEvent,
  type WorkflowDefinition,
} from '@svc/workflow';
import { numberAt } from '@svc/settings';
import { carryOut } from './carry-out';
import { hearEvents } from './hear-events';
import { changedFields, headerOf, runStateOf } from './run-codec';
import type { RunDeps } from './run-deps';
import { treeChanges } from './run-tree';
import { schemaCheckOf } from './schema-check';
import { placeOf } from './step-jobs';

/** So that a run with much to hear gives way to others. */
const mostEvents = 256;
const mostRounds = 4;
const busyRetryMs = 500;
const postponedRetryMs = 1_000;

type Opened = Extract<OpenOutcome, { kind: 'open' }>;

/**
 * One turn of a run: works out what follows from what happened to it, saves that, and does what is to be done. Whatever
 * dies meanwhile, another turn goes on from what was saved. See docs/adr/0009-a-run-has-an-inbox.md.
 *
 * @returns how long to wait before the same entry comes again, ms; undefined when it is done
 */
export async function runPass(deps: RunDeps, runId: string): Promise<number | undefined> {
  const owner = `${deps.settings.instanceId}:${deps.random.hex(8)}`;
  const lease = new RunLease(deps, runId, owner);
  try {
    return await takeTurns(deps, runId, owner, lease);
  } catch (error) {
    // So that the next try need not wait until the lock runs out.
    await deps.store.runs.close(runId, owner, 'pause').catch(() => undefined);
    throw error;
  } finally {
    lease.stop();
  }
}

/** Renews the lock of a run while a turn is under way. One that is lost stays lost: the next write is refused. */
class RunLease {
  private held = false;
  private readonly renewal: NodeJS.Timeout;

  constructor({ store, settings }: RunDeps, runId: string, owner: string) {
    const { lockMs } = settings;
    const lease = store.lease(keys.runLock(runId), owner, lockMs);
    this.renewal = setInterval(() => this.held && void lease.renew().catch(() => undefined), lockMs / 3);
  }

  /** Not while it is being given back: a renewal that comes later would take it again. */
  renews(held: boolean): void {
    this.held = held;
  }

  stop(): void {
    clearInterval(this.renewal);
  }
}

async function takeTurns(deps: RunDeps, runId: string, owner: string, lease: RunLease): Promise<number | undefined> {
  for (let round = 1; ; round++) {
    const opened = await deps.store.runs.open(runId, owner, deps.settings.lockMs, mostEvents);
    if (opened.kind === 'busy') return busyRetryMs;
    if (opened.kind === 'missing') return undefined;
    lease.renews(true);
    const turn = await takeTurn(deps, { runId, owner, lease, opened });
    if (turn === 'asleep') return undefined;
    if (turn === 'fenced') {
      deps.events.fenced(runId);
      // The lock may be held all the same: whoever saved in between must not wait until it runs out.
      await deps.store.runs.close(runId, owner, 'pause');
      return busyRetryMs;
    }
    const next = turn === 'postponed' ? 'pause' : round < mostRounds ? 'go_on' : 'give_way';
    lease.renews(false);
    const closed = await deps.store.runs.close(runId, owner, next);
    if (closed === 'paused') return postponedRetryMs;
    if (closed === 'fenced') return busyRetryMs;
    if (closed !== 'more') return undefined;
  }
}

/** `asleep`: nothing was to be done and nothing is to be heard, so it is closed already. */
type Turn = 'done' | 'asleep' | 'postponed' | 'fenced';

type Begun = Pick<TurnOf, 'runId' | 'owner' | 'lease' | 'opened'>;

async function takeTurn(deps: RunDeps, begun: Begun): Promise<Turn> {
  const { runId, opened } = begun;
  const startedMs = deps.clock.nowMs();
  const before = await read(deps, runId, opened.revision);
  if (!before) return 'done';
  const { org_id, workflow_id, workflow_revision = 1, workflow_written_at } = before;
  const definition = await deps.definitions.find(org_id, workflow_id, workflow_revision, workflow_written_at);
  const heard = await hearEvents(deps.store, opened.events, before, opened.acting);
  // Nothing is left undone of what a closed pass asked for; of one that was not, everything is asked for again.
  const first: RunEvent[] = opened.acting ? [{ kind: 'tick' }, ...heard.events] : heard.events;
  const turn = { ...begun, before: { ...before, kept_bytes: heard.keptBytes }, definition: definition ?? lost(before) };
  const events: RunEvent[] = definition ? first : [{ kind: 'deleted' }];
  const outcome = await goOn(deps, turn, events, opened.events.length);
  deps.events.passed(opened.events.length, deps.clock.nowMs() - startedMs);
  return outcome;
}

/** Its definition is no more, which should not be while a run uses it: the run ends, and needs none for that. */
const lost = (run: RunState): WorkflowDefinition => ({
  id: run.workflow_id,
  org_id: run.org_id,
  name: run.workflow_id,
  timeout_sec: 0,
  steps: {},
});

interface TurnOf {
  runId: string;
  owner: string;
  lease: RunLease;
  opened: Opened;
  before: RunState;
  definition: WorkflowDefinition;
}

async function read(deps: RunDeps, runId: string, revision: number): Promise<RunState | undefined> {
  const remembered = deps.memory.find(runId, revision);
  if (remembered) return remembered.run;
  const loaded = await deps.store.runs.load(runId);
  return loaded && runStateOf(loaded);
}

/** Saves and acts until nothing follows; what an action tells at once is heard in the same turn. */
async function goOn(deps: RunDeps, turn: TurnOf, first: RunEvent[], heard: number): Promise<Turn> {
  const { opened, definition } = turn;
  const nowMs = Math.floor(opened.nowUs / 1_000);
  const limits = await limitsOf(deps, turn.before, definition);
  const checkSchema = await schemaCheckOf(deps.schemas, turn.before.org_id, definition);
  let { before } = turn;
  let { revision } = opened;
  let events = first;
  let acted = opened.acting ? [] : Object.keys(before.outbox);
  let left = heard;
  do {
    const planned = planAll({ deps, definition, limits, checkSchema, before, events, nowMs, acted });
    const isSaved = !isRunEnded(before.status) && (left > 0 || events.length > 0);
    if (isSaved) {
      const saved = await save(deps, { ...turn, before }, planned, revision, left);
      if (saved === 'fenced') return 'fenced';
      if (isRunEnded(planned.run.status)) tellEnd(deps, planned.run);
      if (saved.sleeps) return 'asleep';
      revision = saved.revision;
    }
    left = 0;
    const of = { run: planned.run, definition, owner: turn.owner, nowMs };
    const { events: told, left: undone } = await carryOut(deps, of, planned.actions);
    if (undone !== 'nothing') return undone;
    before = planned.run;
    events = told;
    acted = Object.keys(before.outbox);
  } while (events.length > 0);
  return 'done';
}

interface Planning {
  deps: RunDeps;
  definition: WorkflowDefinition;
  limits: PlanLimits;
  checkSchema: SchemaCheck | undefined;
  before: RunState;
  events: readonly RunEvent[];
  nowMs: number;
  acted: readonly string[];
}

/** All events, one after the other. */
function planAll({ deps, definition, limits, checkSchema, before, events, nowMs, acted }: Planning): Plan {
  const random = () => deps.random.number();
  const actions: Action[] = [];
  const timeline: TimelineEvent[] = [];
  const changed = new Set<string>();
  let run = before;
  for (const [i, event] of events.entries()) {
    const step = plan({
      definition,
      run,
      event,
      nowMs,
      limits,
      random,
      ...(checkSchema && { checkSchema }),
      ...(i === 0 && { acted }),
    });
    run = step.run;
    actions.push(...step.actions);
    timeline.push(...step.events);
    for (const path of step.changed) changed.add(path);
  }
  return { run: withoutTimers(run, before), actions, events: timeline, changed: [...changed] };
}

/** Timers are written with the run, so nothing of them is left to do. */
function withoutTimers(run: RunState, before: RunState): RunState {
  if (run === before) return run;
  const outbox = Object.entries(run.outbox).filter(([id]) => !id.startsWith('set:') && !id.startsWith('clear:'));
  return { ...run, outbox: Object.fromEntries(outbox) };
}

type Saved = 'fenced' | { revision: number; sleeps: boolean };

/** `fenced`: somebody else has the run. */
async function save(
  deps: RunDeps,
  { runId, owner, lease, before, definition }: TurnOf,
  planned: Plan,
  revision: number,
  heard: number,
): Promise<Saved> {
  const { run } = planned;
  const fields = changedFields(before, run, planned.changed);
  const { status } = run;
  const acting = planned.actions.some(isLeftToDo);
  const document: RunSave = {
    id: runId,
    revision,
    owner,
    token: `${owner}:${revision}`,
    header: headerOf(run),
    steps: fields.steps,
    removed: fields.removed,
    events: planned.events.map((event) => ({ ...event })),
    heard,
    ...(acting ? { acting } : { closes: true }),
    timers: timersOf(planned.actions),
    tree: treeChanges(definition, before, run, planned.changed),
    ...(status !== before.status && {
      status: isRunEnded(status) ? { to: status, keepSec: deps.settings.keepSec } : { to: status },
    }),
    ...(isRunEnded(status) && status !== 'succeeded' && { reason: run.error?.message ?? status }),
  };
  lease.renews(acting);
  const outcome = await deps.store.runs.save(document);
  if (outcome.kind !== 'saved') {
    deps.memory.forget(runId);
    return 'fenced';
  }
  lease.renews(!outcome.sleeps);
  remember(deps, run, outcome.revision);
  for (const path of planned.changed) tellStep(deps, definition, before, run, path);
  return outcome;
}

/** Timers are written with the run, and the end of a run is nobody's business unless it is part of another. */
const isLeftToDo = (action: Action): boolean =>
  action.kind !== 'setTimer' &&
  action.kind !== 'clearTimer' &&
  !(action.kind === 'finished' && action.parentKey === undefined);

function remember(deps: RunDeps, run: RunState, revision: number): void {
  if (isRunEnded(run.status)) return deps.memory.forget(run.id);
  const steps = Object.values(run.steps);
  const items = steps.reduce((sum, step) => sum + (step.children?.length ?? 0), 0);
  // About what it takes: measuring it would cost as much as the pass.
  deps.memory.keep(run.id, { revision, run, bytes: 2_048 + 1_024 * (steps.length + items) });
}

/** The last word on each timer. */
function timersOf(actions: readonly Action[]): NonNullable<RunSave['timers']> {
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

/** A definition's own config is one more document, narrower than those of its workflow; it loosens none of them. */
async function limitsOf(deps: RunDeps, run: RunState, definition: WorkflowDefinition): Promise<PlanLimits> {
  const config = mergeConfig([
    { scope: 'org', data: (await deps.config.at(placeOf(run))) ?? {} },
    { scope: 'workflow', data: definition.config ?? {} },
  ]);
  const own = deps.fleet.timeouts().workflows[run.workflow_id];
  return {
    ...defaultPlanLimits,
    maxItems: deps.settings.maxItems,
    expressions: deps.settings.expressions,
    maxParallelSteps: numberAt(config, 'resources', 'max_parallel_steps') ?? defaultPlanLimits.maxParallelSteps,
    runTimeoutMs: (own?.total_timeout_seconds ?? 0) * 1_000,
    defaultMaxRetries: own?.max_retries ?? defaultPlanLimits.defaultMaxRetries,
  };
}

function tellEnd(deps: RunDeps, run: RunState): void {
  if (!isRunEnded(run.status)) return;
  deps.events.ended(run.workflow_id, run.status, (run.completed_at_ms ?? 0) - run.created_at_ms);
}

function tellStep(
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
