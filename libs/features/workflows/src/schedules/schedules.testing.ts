import type { ScheduleFields } from '@svc/contract';
import { keys } from '@svc/store';
import { useRedisStore } from '@svc/fixtures/store';
import { person } from '@svc/testing';
import { randomUUID } from 'node:crypto';
import type { FireScheduleDeps, ScheduledStart } from './fire-schedule';
import { addSchedule, type SaveScheduleDeps } from './save-schedule';

/** Schedules of a workflow `cargo` on a dedicated Redis; the runs they start are records that no engine processes. */
export function useSchedules() {
  const base = useRedisStore();
  const use = {
    caller: person('ann'),
    /** Requested starts and cancelled runs, in order. */
    asked: [] as ScheduledStart[],
    cancelled: [] as string[],
    /** Called before each start; may throw. */
    onStart: (): void | Promise<void> => undefined,
    get store() {
      return base.store;
    },
    get redis() {
      return base.redis;
    },
    get deps(): FireScheduleDeps & SaveScheduleDeps {
      return { store: use.store, random: { uuid: randomUUID }, start, cancel };
    },
    add: (fields: Partial<ScheduleFields> = {}, agentId?: string) => {
      const defaults = { name: '', time_zone: 'UTC', overlap: 'skip', misfire: 'run_once', paused: false } as const;
      const times = fields.cron === undefined && { interval_sec: 600 };
      const wanted = { ...defaults, ...times, input: { crates: 2 }, ...fields };
      return addSchedule(use.deps, person('ann'), 'cargo', wanted, agentId);
    },
    async read(id: string) {
      const now = await use.store.schedules.read(id);
      if (!now) throw new Error('schedule not found');
      return now;
    },
    /** Shifts a schedule into the past, as if created that long ago. Returns its due time. */
    async passed(id: string, ms: number): Promise<number> {
      const { record } = await use.read(id);
      const document = { ...record.document, from_ms: Number(record.document['from_ms']) - ms };
      const dueMs = (record.dueMs ?? NaN) - ms;
      await use.redis.hset(keys.schedule(id), { document: JSON.stringify(document), due: dueMs });
      await use.redis.zadd(keys.schedulesDue(), dueMs, id);
      return dueMs;
    },
    /** Ids of started runs, in order; a repeat starts none. */
    runs: () => use.redis.zrange(keys.runsCreated('acme', 'cargo'), 0, '-1'),
    end: (runId: string) => use.redis.hset(keys.run(runId), 'status', 'succeeded'),
  };
  async function start(wanted: ScheduledStart): Promise<{ runId: string }> {
    await use.onStart();
    use.asked.push(wanted);
    const runId = randomUUID();
    const outcome = await use.store.runs.create({
      id: runId,
      tenant: wanted.tenant,
      workflow: { id: wanted.workflowId, version: 1 },
      header: { input: wanted.input },
      events: [],
      start: { kind: 'start' },
      limits: { tenant: 0, all: 0 },
      idempotency: { key: wanted.idempotencyKey, hash: 'h', answer: runId, ttlSec: 60 },
    });
    return { runId: outcome.kind === 'replay' ? outcome.answer : runId };
  }
  async function cancel(_tenant: string, runId: string): Promise<void> {
    use.cancelled.push(runId);
  }
  beforeEach(async () => {
    use.asked.length = 0;
    use.cancelled.length = 0;
    use.onStart = () => undefined;
    const document = { id: 'cargo', name: 'Cargo', org_id: 'acme', steps: {} };
    await use.store.workflows.write({ tenant: 'acme', id: 'cargo', document, by: 'ann' });
  });
  return use;
}
