import { isRunEnded } from '@svc/lifecycle';
import { mergeConfig } from '@svc/policy';
import type { OpenOutcome, RunSave } from '@svc/store';
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
import { executeActions } from './execute-actions';
import { readInbox } from './read-inbox';
import { changedFields, toHeader, toRunState } from './run-codec';
import type { RunDeps } from './run-deps';
import { treeChanges } from './run-tree';
import { buildSchemaCheck } from './schema-check';
import { toConfigScope } from './step-jobs';

/** Bounds the work of one pass, so that a run with a long inbox does not delay other runs. */
const MAX_EVENTS = 256;
const MAX_ITERATIONS = 4;
const busyRetryMs = 500;
const postponedRetryMs = 1_000;

type Opened = Extract<OpenOutcome, { kind: 'open' }>;

/**
 * One pass over a run: plans the consequences of its inbox, saves the new state and executes the planned actions. After a
 * crash at any point, the next pass continues from the saved state. See docs/adr/0009-a-run-has-an-inbox.md.
 *
 * @returns delay before the queue entry is retried, ms; undefined when the entry is done
 */
export async function runPass(deps: RunDeps, runId: string): Promise<number | undefined> {
  const owner = `${deps.settings.instanceId}:${deps.random.hex(8)}`;
  const lease = new RunLease(deps, runId, owner);
  try {
    return await iterate(deps, runId, owner, lease);
  } catch (error) {
    // Releases the lock, so that the retry need not wait for it to expire.
    await deps.store.runs.close(runId, owner, 'pause').catch(() => undefined);
    throw error;
  } finally {
    lease.stop();
  }
}

/** Renews the lock of a run during a pass. A lost lock is not reacquired: the next write is rejected. */
class RunLease {
  private held = false;
  private readonly renewal: NodeJS.Timeout;

  constructor({ store, settings }: RunDeps, runId: string, owner: string) {
    const { lockMs } = settings;
    const lease = store.lease(store.keys.runLock(runId), owner, lockMs);
    this.renewal = setInterval(() => this.held && void lease.renew().catch(() => undefined), lockMs / 3);
  }

  /** Stops renewal before the lock is released: a late renewal would reacquire it. */
  setRenewing(held: boolean): void {
    this.held = held;
  }

  stop(): void {
    clearInterval(this.renewal);
  }
}

async function iterate(deps: RunDeps, runId: string, owner: string, lease: RunLease): Promise<number | undefined> {
  for (let iteration = 1; ; iteration++) {
    const opened = await deps.store.runs.open(runId, owner, deps.settings.lockMs, MAX_EVENTS);
    if (opened.kind === 'busy') return busyRetryMs;
    if (opened.kind === 'missing') return undefined;
    lease.setRenewing(true);
    const outcome = await runIteration(deps, { runId, owner, lease, opened });
    if (outcome === 'asleep') return undefined;
    if (outcome === 'fenced') {
      deps.events.fenced(runId);
      // We may still hold the lock: release it, so that the next owner need not wait for it to expire.
      await deps.store.runs.close(runId, owner, 'pause');
      return busyRetryMs;
    }
    const next = outcome === 'postponed' ? 'pause' : iteration < MAX_ITERATIONS ? 'go_on' : 'give_way';
    lease.setRenewing(false);
    const closed = await deps.store.runs.close(runId, owner, next);
    if (closed === 'paused') return postponedRetryMs;
    if (closed === 'fenced') return busyRetryMs;
    if (closed !== 'more') return undefined;
  }
}

/** `asleep`: no actions and an empty inbox, so the save has already closed the run. */
type IterationOutcome = 'done' | 'asleep' | 'postponed' | 'fenced';

type OpenRun = Pick<IterationContext, 'runId' | 'owner' | 'lease' | 'opened'>;

async function runIteration(deps: RunDeps, open: OpenRun): Promise<IterationOutcome> {
  const { runId, opened } = open;
  const startedMs = deps.clock.nowMs();
  const before = await readRun(deps, runId, opened.revision);
  if (!before) return 'done';
  const { org_id, workflow_id, workflow_revision = 1, workflow_written_at } = before;
  const definition = await deps.definitions.find(org_id, workflow_id, workflow_revision, workflow_written_at);
  const inbox = await readInbox(deps.store, opened.events, before, opened.acting);
  // The last pass was not closed, so its actions may be incomplete: the tick makes every unconfirmed one again.
  const first: RunEvent[] = opened.acting ? [{ kind: 'tick' }, ...inbox.events] : inbox.events;
  const context = {
    ...open,
    before: { ...before, kept_bytes: inbox.keptBytes },
    definition: definition ?? emptyDefinition(before),
  };
  const events: RunEvent[] = definition ? first : [{ kind: 'deleted' }];
  const outcome = await saveAndExecute(deps, context, events, opened.events.length);
  deps.events.passed(opened.events.length, deps.clock.nowMs() - startedMs);
  return outcome;
}

/** Replaces a missing definition (should not happen while a run references it): enough to end the run. */
const emptyDefinition = (run: RunState): WorkflowDefinition => ({
  id: run.workflow_id,
  org_id: run.org_id,
  name: run.workflow_id,
  timeout_sec: 0,
  steps: {},
});

interface IterationContext {
  runId: string;
  owner: string;
  lease: RunLease;
  opened: Opened;
  before: RunState;
  definition: WorkflowDefinition;
}

async function readRun(deps: RunDeps, runId: string, revision: number): Promise<RunState | undefined> {
  const cached = deps.memory.find(runId, revision);
  if (cached) return cached.run;
  const loaded = await deps.store.runs.load(runId);
  return loaded && toRunState(loaded);
}

/** Saves and executes until there are no further events; events that actions return at once are planned in the same pass. */
async function saveAndExecute(
  deps: RunDeps,
  context: IterationContext,
  first: RunEvent[],
  inboxSize: number,
): Promise<IterationOutcome> {
  const { opened, definition } = context;
  const nowMs = Math.floor(opened.nowUs / 1_000);
  const limits = await getLimits(deps, context.before, definition);
  const checkSchema = await buildSchemaCheck(deps.schemas, context.before.org_id, definition);
  let { before } = context;
  let { revision } = opened;
  let events = first;
  let acted = opened.acting ? [] : Object.keys(before.outbox);
  let unread = inboxSize;
  do {
    const planned = planAll({ deps, definition, limits, checkSchema, before, events, nowMs, acted });
    const isSaved = !isRunEnded(before.status) && (unread > 0 || events.length > 0);
    if (isSaved) {
      const saved = await save(deps, { ...context, before }, planned, revision, unread);
      if (saved === 'fenced') return 'fenced';
      if (isRunEnded(planned.run.status)) reportRunEnd(deps, planned.run);
      if (saved.sleeps) return 'asleep';
      revision = saved.revision;
    }
    unread = 0;
    const owned = { run: planned.run, definition, owner: context.owner, nowMs };
    const { events: returned, incomplete } = await executeActions(deps, owned, planned.actions);
    if (incomplete !== undefined) return incomplete;
    before = planned.run;
    events = returned;
    acted = Object.keys(before.outbox);
  } while (events.length > 0);
  return 'done';
}

interface PlanInput {
  deps: RunDeps;
  definition: WorkflowDefinition;
  limits: PlanLimits;
  checkSchema: SchemaCheck | undefined;
  before: RunState;
  events: readonly RunEvent[];
  nowMs: number;
  acted: readonly string[];
}

/** Plans the events in order. */
function planAll({ deps, definition, limits, checkSchema, before, events, nowMs, acted }: PlanInput): Plan {
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

/** Drops timers from the outbox: they are written with the run. */
function withoutTimers(run: RunState, before: RunState): RunState {
  if (run === before) return run;
  const outbox = Object.entries(run.outbox).filter(([id]) => !id.startsWith('set:') && !id.startsWith('clear:'));
  return { ...run, outbox: Object.fromEntries(outbox) };
}

type SaveResult = 'fenced' | { revision: number; sleeps: boolean };

/** `fenced`: another process owns the run. */
async function save(
  deps: RunDeps,
  { runId, owner, lease, before, definition }: IterationContext,
  planned: Plan,
  revision: number,
  inboxSize: number,
): Promise<SaveResult> {
  const { run } = planned;
  const fields = changedFields(before, run, planned.changed);
  const { status } = run;
  const acting = planned.actions.some(needsExecution);
  const document: RunSave = {
    id: runId,
    revision,
    owner,
    token: `${owner}:${revision}`,
    header: toHeader(run),
    steps: fields.steps,
    removed: fields.removed,
    events: planned.events.map((event) => ({ ...event })),
    processedEvents: inboxSize,
    ...(acting ? { acting } : { closes: true }),
    timers: buildTimers(planned.actions),
    tree: treeChanges(definition, before, run, planned.changed),
    ...(status !== before.status && {
      status: isRunEnded(status) ? { to: status, keepSec: deps.settings.keepSec } : { to: status },
    }),
    ...(isRunEnded(status) && status !== 'succeeded' && { reason: run.error?.message ?? status }),
  };
  lease.setRenewing(acting);
  const outcome = await deps.store.runs.save(document);
  if (outcome.kind !== 'saved') {
    deps.memory.forget(runId);
    return 'fenced';
  }
  lease.setRenewing(!outcome.sleeps);
  cacheRun(deps, run, outcome.revision);
  for (const path of planned.changed) reportStepEnd(deps, definition, before, run, path);
  return outcome;
}

/** Timers are written with the run; only the end of a child run is reported. */
const needsExecution = (action: Action): boolean =>
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
function buildTimers(actions: readonly Action[]): NonNullable<RunSave['timers']> {
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
async function getLimits(deps: RunDeps, run: RunState, definition: WorkflowDefinition): Promise<PlanLimits> {
  const config = mergeConfig([
    { scope: 'org', data: (await deps.config.at(toConfigScope(run))) ?? {} },
    { scope: 'workflow', data: definition.config ?? {} },
  ]);
  const timeouts = deps.fleet.timeouts().workflows[run.workflow_id];
  return {
    ...defaultPlanLimits,
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
