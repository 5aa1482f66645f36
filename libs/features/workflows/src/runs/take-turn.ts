import { isRunEnded } from '@svc/lifecycle';
import type { RunWake } from '@svc/store';
import type { RunState } from '@svc/workflow';
import { findDefinition, planTurn, saveTurn } from './plan-turn';
import { readInbox } from './read-inbox';
import { toRunState } from './run-codec';
import type { RunDeps } from './run-deps';

/**
 * Plans the next turn of a woken run from the events of its notification, and saves it in one call without the lock. The call
 * is refused unless the run is as it was planned. See docs/adr/0020-a-turn-is-one-call.md.
 *
 * @returns false when the run needs a pass: nothing was changed
 */
export async function takeTurn(deps: RunDeps, wake: RunWake): Promise<boolean> {
  const { revision, atUs, events } = wake;
  if (!events) return false;
  const startedMs = deps.clock.nowMs();
  const before = await readRun(deps, wake);
  if (!before || isRunEnded(before.status)) return false;
  const definition = await findDefinition(deps, before);
  if (!definition) return false;
  const inbox = await readInbox(deps.store, events, before, false);
  const turn = await planTurn(deps, {
    definition,
    before: { ...before, kept_bytes: inbox.keptBytes },
    events: inbox.events,
    nowMs: Math.floor(atUs / 1_000),
    acted: Object.keys(before.outbox),
  });
  const owner = `${deps.settings.instanceId}:${deps.random.hex(8)}`;
  const saved = await saveTurn(deps, turn, { owner, revision, inboxSize: events.length, isUnlocked: true });
  if (typeof saved === 'string') return false;
  deps.events.passed(events.length, deps.clock.nowMs() - startedMs);
  return true;
}

async function readRun(deps: RunDeps, { id, revision, loaded: received }: RunWake): Promise<RunState | undefined> {
  if (received?.run.revision === revision) return toRunState(received);
  const cached = deps.memory.find(id, revision);
  if (cached) return cached.run;
  const loaded = await deps.store.runs.load(id);
  return loaded?.run.revision === revision ? toRunState(loaded) : undefined;
}
