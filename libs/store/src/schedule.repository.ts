import type { Redis } from 'ioredis';
import { keys } from './keys';
import { jsonOf, type JsonObject } from './run.record';
import { runScript } from './scripts';

/** Most schedules of one workflow. */
export const maxSchedulesPerWorkflow = 100;
/** Most starts of one schedule that may wait: for the run before, or for room. */
export const maxWaitingStarts = 100;

/** Times in µs but for `dueMs`. */
export interface ScheduleRecord {
  id: string;
  tenant: string;
  workflow_id: string;
  document: JsonObject;
  /** Grows by one with each change that a caller makes. */
  revision: number;
  /** When it fires next, Unix ms; absent when it does not. */
  dueMs?: number;
  created_at: number;
  created_by: string;
  updated_at: number;
  last_run_id?: string;
  last_time?: number;
  last_error?: string;
}

/** A schedule as it stands, with the time of Redis: the only clock by which schedules fire. */
export interface ScheduleNow {
  record: ScheduleRecord;
  /** Times that have come and are still to be started, Unix ms, oldest first. */
  starts: number[];
  nowMs: number;
}

export interface ScheduleWrite {
  id: string;
  tenant: string;
  workflowId: string;
  /** As it was read; 0 = it must not be there. */
  revision: number;
  document: JsonObject;
  /** Absent = it does not fire. */
  dueMs?: number;
  by: string;
}

export type WriteScheduleOutcome =
  | { kind: 'written'; revision: number }
  /** Somebody else changed it since it was read. */
  | { kind: 'changed' }
  | { kind: 'missing' }
  | { kind: 'no_workflow' }
  | { kind: 'full'; there: number };

export interface ScheduleClaim {
  id: string;
  revision: number;
  dueMs: number;
  nextMs?: number;
  /** Times to start for, oldest first. */
  starts: readonly number[];
  /** What to tell of times that are left out. */
  note?: string;
}

export type ClaimOutcome =
  { kind: 'claimed'; leftOut: number } | { kind: 'early'; waitMs: number } | { kind: 'changed' } | { kind: 'missing' };

export type StartOutcome =
  | { kind: 'started'; runId: string }
  | { kind: 'left_out'; why: string }
  | { kind: 'waits'; why: string; againMs: number };

/** Schedules of workflows in Redis, with the queue entries that fire them. It works out no times. */
export class ScheduleRepository {
  constructor(private readonly redis: Redis) {}

  /** The time by which schedules fire, Unix ms. */
  async nowMs(): Promise<number> {
    const [sec = 0, us = 0] = await this.redis.time();
    return msOf(sec, us);
  }

  /** Atomic: record, index and the queue entry of the next time; what was due before is dropped. */
  async write({ id, tenant, workflowId, revision, document, dueMs, by }: ScheduleWrite): Promise<WriteScheduleOutcome> {
    const reply = await runScript(
      this.redis,
      'writeSchedule',
      keys.schedule(id),
      id,
      tenant,
      workflowId,
      revision,
      JSON.stringify(document),
      dueMs ?? '',
      by,
      maxSchedulesPerWorkflow,
    );
    const [kind, detail = ''] = reply as [WriteScheduleOutcome['kind'], string?];
    switch (kind) {
      case 'written':
        return { kind, revision: Number(detail) };
      case 'full':
        return { kind, there: Number(detail) };
      default:
        return { kind };
    }
  }

  /** Everything about one, read at one moment. */
  async read(id: string): Promise<ScheduleNow | undefined> {
    const reading = this.redis.multi().hgetall(keys.schedule(id)).zrange(keys.scheduleStarts(id), 0, '-1').time();
    const [fields, starts, time] = answersOf(await reading.exec());
    const record = parseSchedule(fields as Record<string, string>);
    const [sec = 0, us = 0] = time as number[];
    return record && { record, starts: (starts as string[]).map(Number), nowMs: msOf(sec, us) };
  }

  /** Those of a workflow, oldest first. */
  async list(workflowId: string): Promise<ScheduleNow[]> {
    const ids = await this.redis.zrange(keys.schedulesOf(workflowId), 0, '-1');
    const schedules = await Promise.all(ids.map((id) => this.read(id)));
    return schedules.flatMap((schedule) => schedule ?? []);
  }

  /** Of many who claim the same time, one does. The starts are noted, and the entry of the next time made, in one step. */
  async claim({ id, revision, dueMs, nextMs, starts, note }: ScheduleClaim): Promise<ClaimOutcome> {
    const reply = await runScript(
      this.redis,
      'claimSchedule',
      keys.schedule(id),
      id,
      revision,
      dueMs,
      nextMs ?? '',
      note ?? '',
      maxWaitingStarts,
      ...starts,
    );
    const [kind, detail] = reply as [ClaimOutcome['kind'], string?];
    switch (kind) {
      case 'claimed':
        return { kind, leftOut: Number(detail) };
      case 'early':
        return { kind, waitMs: Number(detail) };
      default:
        return { kind };
    }
  }

  /** Notes what became of a start. Safe to repeat. */
  async settle(id: string, timeMs: number, outcome: StartOutcome): Promise<'settled' | 'dropped' | 'missing'> {
    const { kind } = outcome;
    const what = kind === 'started' ? outcome.runId : outcome.why;
    const againMs = kind === 'waits' ? Math.ceil(outcome.againMs) : 0;
    const reply = await runScript(this.redis, 'settleStart', keys.schedule(id), id, timeMs, kind, what, againMs);
    return (reply as ['settled' | 'dropped' | 'missing'])[0];
  }

  /** False when the workflow has no such schedule. */
  async remove(workflowId: string, id: string): Promise<boolean> {
    const reply = await runScript(this.redis, 'removeSchedule', keys.schedule(id), id, workflowId);
    return (reply as [string])[0] === 'removed';
  }

  /** Schedules of all tenants whose time came that long ago, or whose starts nobody looked at for so long. */
  async overdue(lateMs: number, unseenMs: number, limit: number): Promise<string[]> {
    const now = await this.nowMs();
    const [due, unseen] = await Promise.all([
      this.redis.zrangebyscore(keys.schedulesDue(), 0, now - lateMs, 'LIMIT', 0, limit),
      this.redis.zrangebyscore(keys.schedulesStarting(), 0, now - unseenMs, 'LIMIT', 0, limit),
    ]);
    return [...new Set([...due, ...unseen])];
  }

  /** Makes a fresh entry for what no entry carries; true when it was needed. */
  async recarry(id: string, unseenMs: number): Promise<boolean> {
    const before = (await this.nowMs()) - unseenMs;
    const reply = await runScript(this.redis, 'recarrySchedule', keys.schedule(id), id, before);
    return (reply as [string])[0] === 'carried';
  }
}

const msOf = (sec: number | string, us: number | string): number =>
  Number(sec) * 1_000 + Math.floor(Number(us) / 1_000);

function answersOf(replies: [Error | null, unknown][] | null): unknown[] {
  return (replies ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
}

function parseSchedule(fields: Record<string, string>): ScheduleRecord | undefined {
  const { id, tenant, workflow, document, due, last_run_id: runId, last_time: time, last_error: error } = fields;
  if (!id || !tenant || !workflow || !document) return undefined;
  return {
    id,
    tenant,
    workflow_id: workflow,
    document: jsonOf(document),
    revision: Number(fields['revision']),
    ...(due && { dueMs: Number(due) }),
    created_at: Number(fields['created_at']),
    created_by: fields['created_by'] ?? '',
    updated_at: Number(fields['updated_at']),
    ...(runId && { last_run_id: runId }),
    ...(time && { last_time: Number(time) }),
    ...(error && { last_error: error }),
  };
}
