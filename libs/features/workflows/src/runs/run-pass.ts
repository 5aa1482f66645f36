import { isRunEnded } from '@svc/lifecycle';
import type { OpenOutcome } from '@svc/store';
import type { RunEvent, RunState, WorkflowDefinition } from '@svc/workflow';
import { executeActions } from './execute-actions';
import { emptyDefinition, findDefinition, planTurn, saveTurn } from './plan-turn';
import { readInbox } from './read-inbox';
import { toRunState } from './run-codec';
import type { RunDeps } from './run-deps';

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
  const definition = await findDefinition(deps, before);
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
  const { opened, definition, owner, lease } = context;
  const nowMs = Math.floor(opened.nowUs / 1_000);
  let { before } = context;
  let { revision } = opened;
  let events = first;
  let acted = opened.acting ? [] : Object.keys(before.outbox);
  let unread = inboxSize;
  do {
    const turn = await planTurn(deps, { definition, before, events, nowMs, acted });
    const { planned } = turn;
    let acting = true;
    if (!isRunEnded(before.status) && (unread > 0 || events.length > 0)) {
      const saved = await saveTurn(deps, turn, { owner, revision, inboxSize: unread, isRepeat: opened.acting, lease });
      if (typeof saved === 'string') return 'fenced';
      if (saved.sleeps) return 'asleep';
      ({ revision, acting } = saved);
    }
    unread = 0;
    const owned = { run: planned.run, definition, owner, nowMs };
    const { events: returned, incomplete } = acting
      ? await executeActions(deps, owned, planned.actions)
      : { events: [], incomplete: undefined };
    if (incomplete !== undefined) return incomplete;
    before = planned.run;
    events = returned;
    acted = Object.keys(before.outbox);
  } while (events.length > 0);
  return 'done';
}
