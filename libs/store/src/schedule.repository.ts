import { canonicalHash } from '@svc/json';
import type { Redis } from 'ioredis';
import { describeAct } from './audit-scope';
import type { Keys } from './keys';
import { parseJson, type JsonObject } from './run.record';
import { runScript } from './scripts';

/** Maximum number of schedules of a workflow. */
export const maxSchedulesPerWorkflow = 100;
/** Maximum number of pending starts of a schedule, waiting for the previous run or for capacity. */
export const maxWaitingStarts = 100;

/** Times in µs, except `dueMs`. */
export interface ScheduleRecord {
  id: string;
  tenant: string;
  workflow_id: string;
  document: JsonObject;
  /** Incremented by each change of a caller. */
  revision: number;
  /** Next due time, Unix ms; absent if there is none. */
  dueMs?: number;
  created_at: number;
  created_by: string;
  updated_at: number;
  last_run_id?: string;
  last_time?: number;
  last_error?: string;
}

/** The current state of a schedule, with the time of the Redis clock, by which schedules fire. */
export interface ScheduleNow {
  record: ScheduleRecord;
  /** Pending starts: due times in Unix ms, oldest first. */
  starts: number[];
  nowMs: number;
}

export interface ScheduleWrite {
  id: string;
  tenant: string;
  workflowId: string;
  /** Revision that was read; 0 = it must not exist. */
  revision: number;
  document: JsonObject;
  /** Absent = no further due time. */
  dueMs?: number;
  by: string;
}

export type WriteScheduleOutcome =
  | { kind: 'written'; revision: number }
  /** It changed since it was read. */
  | { kind: 'changed' }
  | { kind: 'missing' }
  | { kind: 'no_workflow' }
  | { kind: 'full'; there: number };

export interface ScheduleClaim {
  id: string;
  revision: number;
  dueMs: number;
  nextMs?: number;
  /** Due times to start runs for, oldest first. */
  starts: readonly number[];
  /** Note about skipped times. */
  note?: string;
}

export type ClaimOutcome =
  { kind: 'claimed'; leftOut: number } | { kind: 'early'; waitMs: number } | { kind: 'changed' } | { kind: 'missing' };

export type StartOutcome =
  | { kind: 'started'; runId: string }
  | { kind: 'left_out'; why: string }
  | { kind: 'waits'; why: string; againMs: number };

/** Schedules of workflows in Redis, with the queue entries that fire them. Callers compute due times. */
export class ScheduleRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /** Time of the Redis clock, Unix ms. */
  async nowMs(): Promise<number> {
    const [sec = 0, us = 0] = await this.redis.time();
    return toMs(sec, us);
  }

  /** Atomic: record, index and the queue entry of the next due time. Earlier pending starts are removed. */
  async write({ id, tenant, workflowId, revision, document, dueMs, by }: ScheduleWrite): Promise<WriteScheduleOutcome> {
    const hash = canonicalHash(document);
    describeAct({}, { after_hash: hash });
    const reply = await runScript(
      this.redis,
      'writeSchedule',
      this.keys.schedule(id),
      id,
      tenant,
      workflowId,
      revision,
      JSON.stringify(document),
      dueMs ?? '',
      by,
      maxSchedulesPerWorkflow,
      hash,
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

  /** Reads a schedule as one consistent snapshot. */
  async read(id: string): Promise<ScheduleNow | undefined> {
    const reading = this.redis
      .multi()
      .hgetall(this.keys.schedule(id))
      .zrange(this.keys.scheduleStarts(id), 0, '-1')
      .time();
    const [fields, starts, time] = unwrapReplies(await reading.exec());
    const record = parseSchedule(fields as Record<string, string>);
    const [sec = 0, us = 0] = time as number[];
    return record && { record, starts: (starts as string[]).map(Number), nowMs: toMs(sec, us) };
  }

  /** Schedules of a workflow, oldest first. */
  async list(workflowId: string): Promise<ScheduleNow[]> {
    const ids = await this.redis.zrange(this.keys.schedulesOf(workflowId), 0, '-1');
    const schedules = await Promise.all(ids.map((id) => this.read(id)));
    return schedules.flatMap((schedule) => schedule ?? []);
  }

  /** One of several concurrent claims succeeds. Atomically records the starts and adds the entry of the next due time. */
  async claim({ id, revision, dueMs, nextMs, starts, note }: ScheduleClaim): Promise<ClaimOutcome> {
    const reply = await runScript(
      this.redis,
      'claimSchedule',
      this.keys.schedule(id),
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

  /** Records the outcome of a start. Idempotent. */
  async settle(id: string, timeMs: number, outcome: StartOutcome): Promise<'settled' | 'dropped' | 'missing'> {
    const { kind } = outcome;
    const what = kind === 'started' ? outcome.runId : outcome.why;
    const againMs = kind === 'waits' ? Math.ceil(outcome.againMs) : 0;
    const reply = await runScript(this.redis, 'settleStart', this.keys.schedule(id), id, timeMs, kind, what, againMs);
    return (reply as ['settled' | 'dropped' | 'missing'])[0];
  }

  /** False if the workflow has no such schedule. */
  async remove(workflowId: string, id: string): Promise<boolean> {
    const reply = await runScript(this.redis, 'removeSchedule', this.keys.schedule(id), id, workflowId);
    return (reply as [string])[0] === 'removed';
  }

  /** Schedules of all tenants that are overdue by this long, or whose pending starts were not checked for this long. */
  async overdue(lateMs: number, unseenMs: number, limit: number): Promise<string[]> {
    const now = await this.nowMs();
    const [due, unseen] = await Promise.all([
      this.redis.zrangebyscore(this.keys.schedulesDue(), 0, now - lateMs, 'LIMIT', 0, limit),
      this.redis.zrangebyscore(this.keys.schedulesStarting(), 0, now - unseenMs, 'LIMIT', 0, limit),
    ]);
    return [...new Set([...due, ...unseen])];
  }

  /** Adds a queue entry to a schedule without one; true if it was needed. */
  async requeue(id: string, unseenMs: number): Promise<boolean> {
    const before = (await this.nowMs()) - unseenMs;
    const reply = await runScript(this.redis, 'requeueSchedule', this.keys.schedule(id), id, before);
    return (reply as [string])[0] === 'requeued';
  }
}

const toMs = (sec: number | string, us: number | string): number =>
  Number(sec) * 1_000 + Math.floor(Number(us) / 1_000);

function unwrapReplies(replies: [Error | null, unknown][] | null): unknown[] {
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
    document: parseJson(document),
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
