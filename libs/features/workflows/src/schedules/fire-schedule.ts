import { AppError } from '@svc/contract';
import { isRunEnded } from '@svc/lifecycle';
import type { ScheduleNow, ScheduleRecord, StartOutcome, Store } from '@svc/store';
import { applyMisfireRule } from '@svc/workflow';
import type { Random } from '@svc/platform';
import { joinIdentities } from '@svc/identity';
import { findAgentFault } from '../runs/run-agent';
import { parseDocument, getTimes } from './schedule-view';

export interface ScheduledStart {
  tenant: string;
  workflowId: string;
  input: Record<string, unknown>;
  /** Principal that the run is attributed to. */
  by: string;
  /** Identities of the schedule's author and its last editor. */
  submitter: string;
  /** Agent of the schedule, and so of the run. */
  agentId?: string;
  /** Derived from the schedule and the time, so that a start is idempotent. */
  idempotencyKey: string;
  labels?: Record<string, string>;
}

export interface FireScheduleDeps {
  store: Pick<Store, 'agents' | 'keys' | 'schedules' | 'runs' | 'lease'>;
  random: Pick<Random, 'uuid'>;
  /** @throws AppError when the start is refused */
  start(start: ScheduledStart): Promise<{ runId: string }>;
  /** @throws AppError when the run cannot be cancelled */
  cancel(tenant: string, runId: string): Promise<void>;
}

/** Retry interval of a waiting start. */
const waitMs = 5_000;
const lockMs = 30_000;
const lockedRetryMs = 1_000;

/**
 * Fires a schedule that is due by Redis' clock, and makes its starts. Safe to run twice: a time is claimed once, and each
 * start has its own idempotency key. The claim records the starts, so after a crash the retried queue entry makes them;
 * `sweepSchedules` requeues schedules without an entry.
 *
 * @returns delay before a retry, when the entry ran early or another process makes the starts
 */
export async function fireSchedule(
  deps: FireScheduleDeps,
  { schedule_id: id, due_ms: madeForMs }: { schedule_id: string; due_ms: number },
): Promise<{ retryInMs: number } | void> {
  const schedule = await deps.store.schedules.read(id);
  if (!schedule) return;
  const earlyMs = await claimDue(deps, schedule);
  if (earlyMs !== undefined && schedule.record.dueMs === madeForMs) return { retryInMs: earlyMs };
  return makeStarts(deps, id);
}

/** @returns time left, ms; undefined when the schedule is due or has no further time */
async function claimDue({ store }: FireScheduleDeps, { record, nowMs }: ScheduleNow): Promise<number | undefined> {
  const { id, revision, dueMs } = record;
  if (dueMs === undefined) return undefined;
  if (nowMs < dueMs) return dueMs - nowMs;
  const document = parseDocument(record);
  const read = getTimes(document);
  const outcome = await store.schedules.claim(
    read.kind === 'bad'
      ? // It was valid when written; its time zone may have been removed since.
        { id, revision, dueMs, starts: [], note: read.message }
      : {
          id,
          revision,
          dueMs,
          ...buildClaim(record, applyMisfireRule(read.times, document.fields.misfire, dueMs, nowMs)),
        },
  );
  return outcome.kind === 'early' ? outcome.waitMs : undefined;
}

function buildClaim(record: ScheduleRecord, { starts, leftOut, nextMs }: ReturnType<typeof applyMisfireRule>) {
  const { misfire } = parseDocument(record).fields;
  return {
    starts,
    ...(nextMs !== undefined && { nextMs }),
    ...(leftOut && { note: `times passed without a start and are left out (misfire: ${misfire})` }),
  };
}

/** Makes the recorded starts, oldest first, one process at a time. */
async function makeStarts(deps: FireScheduleDeps, id: string): Promise<{ retryInMs: number } | void> {
  const { store } = deps;
  const lock = store.lease(store.keys.scheduleLock(id), deps.random.uuid(), lockMs);
  try {
    for (;;) {
      if (!(await lock.hold())) return { retryInMs: lockedRetryMs };
      const schedule = await store.schedules.read(id);
      const [timeMs] = schedule?.starts ?? [];
      if (!schedule || timeMs === undefined) return;
      const outcome = await makeStart(deps, schedule, timeMs);
      // After a crash here the start is repeated and returns the same run.
      await store.schedules.settle(id, timeMs, outcome);
      if (outcome.kind === 'waits') return;
    }
  } finally {
    await lock.free();
  }
}

async function makeStart(
  deps: FireScheduleDeps,
  { record, starts }: ScheduleNow,
  timeMs: number,
): Promise<StartOutcome> {
  const { fields, author, editor, agent_id: agentId } = parseDocument(record);
  const { tenant, workflow_id: workflowId, created_by: by, last_run_id: before } = record;
  const at = new Date(timeMs).toISOString();
  // A start still waiting when the next time came counts as missed.
  if (starts.length > 1 && fields.overlap !== 'queue' && fields.misfire !== 'run_all') {
    return { kind: 'left_out', why: `the start of ${at} is left out: the next one came (misfire: ${fields.misfire})` };
  }
  // Before an earlier run is cancelled for this one. An agent that is stopped after this gets no job of the run.
  const fault = agentId === undefined ? undefined : await findAgentFault(deps, tenant, agentId);
  if (fault) return { kind: 'left_out', why: `the start of ${at} is left out: its agent may not start it (${fault})` };
  if (before !== undefined && fields.overlap !== 'allow' && (await isLive(deps, before))) {
    const why = `the run before, ${before}, is under way (overlap: ${fields.overlap})`;
    if (fields.overlap === 'skip') return { kind: 'left_out', why: `the start of ${at} is left out: ${why}` };
    if (fields.overlap === 'queue') return { kind: 'waits', why: `the start of ${at} waits: ${why}`, againMs: waitMs };
    await cancelRun(deps, tenant, before);
  }
  try {
    const { runId } = await deps.start({
      tenant,
      workflowId,
      input: fields.input,
      by,
      submitter: joinIdentities(author ?? `principal:${by}`, editor),
      ...(agentId !== undefined && { agentId }),
      idempotencyKey: `schedule:${record.id}:${timeMs}`,
      labels: { schedule_id: record.id, scheduled_for: at },
    });
    return { kind: 'started', runId };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const why = `the start of ${at} was refused: ${error.message}`;
    const { status } = error.toBody();
    const isOverloaded = status === 429 || status === 503;
    return isOverloaded ? { kind: 'waits', why, againMs: waitMs } : { kind: 'left_out', why };
  }
}

async function isLive({ store }: FireScheduleDeps, runId: string): Promise<boolean> {
  const run = await store.runs.header(runId);
  return run !== undefined && !isRunEnded(run.status);
}

async function cancelRun(deps: FireScheduleDeps, tenant: string, runId: string): Promise<void> {
  try {
    await deps.cancel(tenant, runId);
  } catch (error) {
    // It ended by itself in between.
    if (!(error instanceof AppError) || (await isLive(deps, runId))) throw error;
  }
}
