import { AppError } from '@svc/contract';
import { isRunEnded } from '@svc/lifecycle';
import { keys, type ScheduleNow, type ScheduleRecord, type StartOutcome, type Store } from '@svc/store';
import { judgePassed } from '@svc/workflow';
import type { Random } from '@svc/platform';
import { joinIdentities } from '@svc/identity';
import { documentOf, timesOf } from './schedule-view';

export interface ScheduledStart {
  tenant: string;
  workflowId: string;
  input: Record<string, unknown>;
  /** In whose name. */
  by: string;
  /** Identities of the schedule's author and its last editor. */
  submitter: string;
  /** Made of the schedule and the time: repeating a start is harmless. */
  idempotencyKey: string;
  labels?: Record<string, string>;
}

export interface FireScheduleDeps {
  store: Pick<Store, 'schedules' | 'runs' | 'lease'>;
  random: Pick<Random, 'uuid'>;
  /** @throws AppError when the start is refused */
  start(start: ScheduledStart): Promise<{ runId: string }>;
  /** @throws AppError when the run cannot be cancelled */
  cancel(tenant: string, runId: string): Promise<void>;
}

/** How often a start that waits is looked at. */
const waitMs = 5_000;
const lockMs = 30_000;
const takenMs = 1_000;

/**
 * Fires a schedule whose time has come by Redis' clock, and makes the starts that follow. Safe to run twice: a time is
 * claimed once, and a start carries an idempotency key of its own. If we die after the claim, the starts are noted: the
 * queue entry comes again, and `sweepSchedules` sees to what has none.
 *
 * @returns when to look again, if it came too early or another process makes the starts
 */
export async function fireSchedule(
  deps: FireScheduleDeps,
  { schedule_id: id, due_ms: madeForMs }: { schedule_id: string; due_ms: number },
): Promise<{ lookAgainInMs: number } | void> {
  const schedule = await deps.store.schedules.read(id);
  if (!schedule) return;
  const earlyMs = await claimDue(deps, schedule);
  if (earlyMs !== undefined && schedule.record.dueMs === madeForMs) return { lookAgainInMs: earlyMs };
  return makeStarts(deps, id);
}

/** @returns how long it still takes, ms; undefined when its time has come, or none is to come */
async function claimDue({ store }: FireScheduleDeps, { record, nowMs }: ScheduleNow): Promise<number | undefined> {
  const { id, revision, dueMs } = record;
  if (dueMs === undefined) return undefined;
  if (nowMs < dueMs) return dueMs - nowMs;
  const document = documentOf(record);
  const read = timesOf(document);
  const outcome = await store.schedules.claim(
    read.kind === 'bad'
      ? // It was good when it was written: a zone may have gone since.
        { id, revision, dueMs, starts: [], note: read.message }
      : { id, revision, dueMs, ...claimOf(record, judgePassed(read.times, document.fields.misfire, dueMs, nowMs)) },
  );
  return outcome.kind === 'early' ? outcome.waitMs : undefined;
}

function claimOf(record: ScheduleRecord, { starts, leftOut, nextMs }: ReturnType<typeof judgePassed>) {
  const { misfire } = documentOf(record).fields;
  return {
    starts,
    ...(nextMs !== undefined && { nextMs }),
    ...(leftOut && { note: `times passed without a start and are left out (misfire: ${misfire})` }),
  };
}

/** Makes the starts that are noted, oldest first, one process at a time. */
async function makeStarts(deps: FireScheduleDeps, id: string): Promise<{ lookAgainInMs: number } | void> {
  const { store } = deps;
  const lock = store.lease(keys.scheduleLock(id), deps.random.uuid(), lockMs);
  try {
    for (;;) {
      if (!(await lock.hold())) return { lookAgainInMs: takenMs };
      const schedule = await store.schedules.read(id);
      const [timeMs] = schedule?.starts ?? [];
      if (!schedule || timeMs === undefined) return;
      const outcome = await makeStart(deps, schedule, timeMs);
      // If we die here, the start is made once more and answers with the same run.
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
  const { fields, author, editor } = documentOf(record);
  const { tenant, workflow_id: workflowId, created_by: by, last_run_id: before } = record;
  const at = new Date(timeMs).toISOString();
  // Starts that could not be made for so long that another time came have passed like any other.
  if (starts.length > 1 && fields.overlap !== 'queue' && fields.misfire !== 'run_all') {
    return { kind: 'left_out', why: `the start of ${at} is left out: the next one came (misfire: ${fields.misfire})` };
  }
  if (before !== undefined && fields.overlap !== 'allow' && (await isLive(deps, before))) {
    const why = `the run before, ${before}, is under way (overlap: ${fields.overlap})`;
    if (fields.overlap === 'skip') return { kind: 'left_out', why: `the start of ${at} is left out: ${why}` };
    if (fields.overlap === 'queue') return { kind: 'waits', why: `the start of ${at} waits: ${why}`, againMs: waitMs };
    await cancelled(deps, tenant, before);
  }
  try {
    const { runId } = await deps.start({
      tenant,
      workflowId,
      input: fields.input,
      by,
      submitter: joinIdentities(author ?? `principal:${by}`, editor),
      idempotencyKey: `schedule:${record.id}:${timeMs}`,
      labels: { schedule_id: record.id, scheduled_for: at },
    });
    return { kind: 'started', runId };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const why = `the start of ${at} was refused: ${error.message}`;
    const { status } = error.toBody();
    const isForWantOfRoom = status === 429 || status === 503;
    return isForWantOfRoom ? { kind: 'waits', why, againMs: waitMs } : { kind: 'left_out', why };
  }
}

async function isLive({ store }: FireScheduleDeps, runId: string): Promise<boolean> {
  const run = await store.runs.header(runId);
  return run !== undefined && !isRunEnded(run.status);
}

async function cancelled(deps: FireScheduleDeps, tenant: string, runId: string): Promise<void> {
  try {
    await deps.cancel(tenant, runId);
  } catch (error) {
    // It ended by itself meanwhile.
    if (!(error instanceof AppError) || (await isLive(deps, runId))) throw error;
  }
}
