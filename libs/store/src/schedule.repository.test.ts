import { shardTag } from '@svc/queues';
import { queues } from '@svc/queues.config';
import { eventually } from '@svc/testing';
import { Queue } from 'bullmq';
import { findKeyName, buildKeys, maxSchedulesPerWorkflow, maxWaitingStarts, type ScheduleWrite } from './index';
import { useStore } from './store.testing';

const shard = 's1';
const keys = buildKeys(shard);
const use = useStore({ shard });
const schedules = () => use.store.schedules;
const hour = 3_600_000;
const many = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));
const only = (outcomes: { kind: string }[], kind: string) => outcomes.filter((one) => one.kind === kind);

const write = (id: string, over: Partial<ScheduleWrite> = {}) =>
  schedules().write({
    id,
    tenant: 'acme',
    workflowId: 'cargo',
    revision: 0,
    document: { fields: { cron: '0 9 * * *' } },
    by: 'ann',
    ...over,
  });
/** A schedule whose time came this long ago. */
async function due(id: string, agoMs = 10): Promise<number> {
  const dueMs = (await schedules().nowMs()) - agoMs;
  await write(id, { dueMs });
  return dueMs;
}
/** Its entry is with an engine, which will find the time claimed. */
async function taken(id: string): Promise<number> {
  const dueMs = await due(id);
  const entry = (await use.redis.hget(keys.schedule(id), 'entry')) ?? '';
  await use.redis.lrem(part('wait'), 0, entry);
  await use.redis.del(part(entry));
  return dueMs;
}
const claim = (id: string, dueMs: number, over: object = {}) =>
  schedules().claim({ id, revision: 1, dueMs, nextMs: dueMs + hour, starts: [dueMs], ...over });
const part = (name: string) => keys.queue(queues.schedules.name, name);
/** Ids of entries that are delayed or wait. */
const entries = async () => [
  ...(await use.redis.zrange(part('delayed'), 0, '-1')),
  ...(await use.redis.lrange(part('wait'), 0, -1)),
];
const payloads = async () =>
  Promise.all(
    (await entries()).map(async (id) => JSON.parse((await use.redis.hget(part(id), 'data')) ?? '') as object),
  );

beforeEach(async () => {
  await use.store.workflows.write({ tenant: 'acme', id: 'cargo', document: { id: 'cargo' }, by: 'ann' });
});

describe('a schedule', () => {
  it('is written with a BullMQ entry delayed until its next due time', async () => {
    const dueMs = (await schedules().nowMs()) + hour;

    expect(await write('s1', { dueMs })).toEqual({ kind: 'written', revision: 1 });

    const { record, starts, nowMs } = (await schedules().read('s1')) ?? {};
    expect(record).toEqual({
      id: 's1',
      tenant: 'acme',
      workflow_id: 'cargo',
      document: { fields: { cron: '0 9 * * *' } },
      revision: 1,
      dueMs,
      created_at: record?.updated_at,
      created_by: 'ann',
      updated_at: expect.any(Number) as number,
    });
    expect(starts).toEqual([]);
    expect(dueMs - (nowMs ?? 0)).toBeLessThanOrEqual(hour);
    expect(await payloads()).toEqual([{ schedule_id: 's1', due_ms: dueMs }]);
    const queue = new Queue(queues.schedules.name, { connection: use.redis, prefix: shardTag(shard) });
    const [entry] = await queue.getDelayed();
    expect((entry?.timestamp ?? 0) + (entry?.delay ?? 0)).toBe(dueMs);
  });

  it('stores distant times to the millisecond', async () => {
    const dueMs = Date.parse('9999-12-31T23:59:59.123Z');

    await write('s1', { dueMs });

    expect((await schedules().read('s1'))?.record.dueMs).toBe(dueMs);
    expect(await payloads()).toEqual([{ schedule_id: 's1', due_ms: dueMs }]);
  });

  it('removes its due entries and pending starts when it is rewritten', async () => {
    const dueMs = await taken('s1');
    await claim('s1', dueMs);
    await schedules().settle('s1', dueMs, { kind: 'waits', why: 'no room', againMs: hour });

    expect(await write('s1', { revision: 1, document: { paused: true } })).toEqual({ kind: 'written', revision: 2 });

    expect(await entries()).toEqual([]);
    const now = await schedules().read('s1');
    expect(now?.starts).toEqual([]);
    expect(now?.record).not.toHaveProperty('dueMs');
    expect(now?.record).not.toHaveProperty('last_error');
    expect(await schedules().overdue(0, 0, 10)).toEqual([]);
  });

  it('is written by one of many writers that read the same revision', async () => {
    await write('s1');

    const outcomes = await many(20, (i) => write('s1', { revision: 1, document: { i } }));

    expect(only(outcomes, 'written')).toHaveLength(1);
    expect(only(outcomes, 'changed')).toHaveLength(19);
    expect(await write('gone', { revision: 1 })).toEqual({ kind: 'missing' });
  });

  it('needs a workflow of its tenant', async () => {
    expect(await write('s1', { workflowId: 'none' })).toEqual({ kind: 'no_workflow' });
    expect(await write('s1', { tenant: 'other' })).toEqual({ kind: 'no_workflow' });
    expect(await use.redis.exists(keys.schedule('s1'))).toBe(0);
  });

  it('is limited per workflow, also under concurrent writes', async () => {
    const outcomes = await many(maxSchedulesPerWorkflow + 5, (i) => write(`s${i}`));

    expect(only(outcomes, 'written')).toHaveLength(maxSchedulesPerWorkflow);
    expect(only(outcomes, 'full')).toEqual(Array(5).fill({ kind: 'full', there: maxSchedulesPerWorkflow }));
    expect(await schedules().list('cargo')).toHaveLength(maxSchedulesPerWorkflow);
    expect(await write('s0', { revision: 1 })).toMatchObject({ kind: 'written' });
  });

  it('is removed with its workflow, including its due entries', async () => {
    const dueMs = await taken('s1');
    await claim('s1', dueMs);
    await write('s2', { dueMs: dueMs + hour });

    await use.store.workflows.remove('acme', 'cargo', 60);

    expect(await use.redis.keys('*schedule*')).toEqual([part('marker')]);
  });

  it('is removed only through its own workflow, and leaves no keys', async () => {
    const dueMs = await taken('s1');
    await claim('s1', dueMs);

    expect(await schedules().remove('another', 's1')).toBe(false);
    expect(await schedules().remove('cargo', 's1')).toBe(true);
    expect(await schedules().remove('cargo', 's1')).toBe(false);

    expect(await use.redis.keys('*schedule*')).toEqual([part('marker')]);
  });

  it('has only keys declared in the table', async () => {
    const dueMs = await due('s1');
    await claim('s1', dueMs);
    await use.store.lease(keys.scheduleLock('s1'), 'me', 1_000).hold();

    const names = (await use.redis.keys('*')).map((key) => findKeyName(key, shard));
    expect(names).not.toContain(undefined);
    expect(new Set(names)).toEqual(
      new Set(['workflow', 'workflows', 'schedule', 'scheduleStarts', 'schedulesOf', 'schedulesDue', 'schedulesStarting', 'scheduleLock', 'queue']), // prettier-ignore
    );
  });
});

describe('a due time', () => {
  it('is claimed by one of 50 callers, with its starts and the entry of the next due time', async () => {
    const dueMs = await due('s1');

    const outcomes = await many(50, () => claim('s1', dueMs));

    expect(only(outcomes, 'claimed')).toEqual([{ kind: 'claimed', leftOut: 0 }]);
    expect(only(outcomes, 'changed')).toHaveLength(49);
    const now = await schedules().read('s1');
    expect(now).toMatchObject({ starts: [dueMs], record: { dueMs: dueMs + hour, revision: 1 } });
    expect((await payloads()).at(0)).toEqual({ schedule_id: 's1', due_ms: dueMs + hour });
  });

  it('is not claimed early by the clock of Redis', async () => {
    const dueMs = (await schedules().nowMs()) + hour;
    await write('s1', { dueMs });

    const outcome = await claim('s1', dueMs);

    expect(outcome).toEqual({ kind: 'early', waitMs: expect.any(Number) as number });
    expect((await schedules().read('s1'))?.starts).toEqual([]);
  });

  it('cannot be claimed once the schedule was rewritten or removed', async () => {
    const dueMs = await due('s1');
    await write('s1', { revision: 1, dueMs });

    expect(await claim('s1', dueMs)).toEqual({ kind: 'changed' });
    await schedules().remove('cargo', 's1');
    expect(await claim('s1', dueMs)).toEqual({ kind: 'missing' });
  });

  it('may be the last', async () => {
    const dueMs = await due('s1');

    await schedules().claim({ id: 's1', revision: 1, dueMs, starts: [dueMs] });

    expect((await schedules().read('s1'))?.record).not.toHaveProperty('dueMs');
    expect(await use.redis.zcard(keys.schedulesDue())).toBe(0);
  });

  it('adds a limited number of starts and skips the newest', async () => {
    const dueMs = await due('s1');
    const starts = Array.from({ length: maxWaitingStarts + 3 }, (_, i) => dueMs + i);

    expect(await claim('s1', dueMs, { starts })).toEqual({ kind: 'claimed', leftOut: 3 });

    expect((await schedules().read('s1'))?.starts).toEqual(starts.slice(0, -3));
  });
});

describe('a start', () => {
  it('is recorded, and so is a rejected one', async () => {
    const dueMs = await due('s1');
    await claim('s1', dueMs, { starts: [dueMs, dueMs + 1] });

    expect(await schedules().settle('s1', dueMs, { kind: 'left_out', why: 'refused' })).toBe('settled');
    expect(await schedules().read('s1')).toMatchObject({ starts: [dueMs + 1], record: { last_error: 'refused' } });
    expect(await schedules().settle('s1', dueMs + 1, { kind: 'started', runId: 'r1' })).toBe('settled');

    const now = await schedules().read('s1');
    expect(now).toMatchObject({ starts: [], record: { last_run_id: 'r1', last_time: expect.any(Number) as number } });
    expect(now?.record).not.toHaveProperty('last_error');
    expect(await use.redis.zcard(keys.schedulesStarting())).toBe(0);
  });

  it('is recorded even if the schedule changed, unless it failed', async () => {
    const dueMs = await due('s1');
    await claim('s1', dueMs);
    await write('s1', { revision: 1 });

    expect(await schedules().settle('s1', dueMs, { kind: 'left_out', why: 'refused' })).toBe('dropped');
    expect((await schedules().read('s1'))?.record).not.toHaveProperty('last_error');
    expect(await schedules().settle('s1', dueMs, { kind: 'started', runId: 'r1' })).toBe('dropped');
    expect((await schedules().read('s1'))?.record.last_run_id).toBe('r1');
    await schedules().remove('cargo', 's1');
    expect(await schedules().settle('s1', dueMs, { kind: 'started', runId: 'r1' })).toBe('missing');
  });

  it('that waits is retried by one entry, however often it is requested', async () => {
    const dueMs = await taken('s1');
    await claim('s1', dueMs);
    const waits = { kind: 'waits', why: 'no room', againMs: hour } as const;

    await many(5, () => schedules().settle('s1', dueMs, waits));

    expect(await payloads()).toHaveLength(2);
    expect(await payloads()).toContainEqual({ schedule_id: 's1', due_ms: dueMs });
    await schedules().settle('s1', dueMs, { kind: 'started', runId: 'r1' });
    expect(await payloads()).toEqual([{ schedule_id: 's1', due_ms: dueMs + hour }]);
  });
});

describe('a schedule without a queue entry', () => {
  it('is found and repaired once it is due', async () => {
    const dueMs = await due('s1');
    await use.redis.del(...(await use.redis.keys(`${part('')}*`)));
    expect(await schedules().overdue(hour, hour, 10)).toEqual([]);

    expect(await schedules().overdue(0, hour, 10)).toEqual(['s1']);
    const repaired = await many(5, () => schedules().requeue('s1', hour));

    expect(repaired.filter(Boolean)).toHaveLength(1);
    expect(await payloads()).toEqual([{ schedule_id: 's1', due_ms: dueMs }]);
  });

  it('is one whose entry failed permanently, or was delayed by a service with a wrong clock', async () => {
    await due('s1');
    await due('s2');
    for (const [id, set] of [
      ['s1', 'failed'],
      ['s2', 'delayed'],
    ] as const) {
      // prettier-ignore
      const entry = (await use.redis.hget(keys.schedule(id), 'entry')) ?? '';
      await use.redis.lrem(part('wait'), 0, entry);
      await use.redis.zadd(part(set), 9e18, entry);
    }

    expect(await schedules().requeue('s1', hour)).toBe(true);
    expect(await schedules().requeue('s2', hour)).toBe(true);

    expect(await use.redis.llen(part('wait'))).toBe(2);
    expect(await use.redis.zcard(part('failed'))).toBe(0);
    expect(await use.redis.zcard(part('delayed'))).toBe(0);
  });

  it('excludes one whose entry waits for an engine or is not due', async () => {
    const dueMs = await due('s1');
    expect(await schedules().requeue('s1', hour)).toBe(false);

    await claim('s1', dueMs, { starts: [] });
    await use.redis.del(...(await use.redis.keys(`${part('')}*`)));
    expect(await schedules().requeue('s1', hour)).toBe(false);
  });

  it('includes one whose starts were recorded by a crashed process', async () => {
    const dueMs = await due('s1');
    await claim('s1', dueMs);
    await use.redis.del(...(await use.redis.keys(`${part('')}*`)));

    await eventually(async () => (await schedules().overdue(hour, 1, 10)).length === 1);
    expect(await schedules().requeue('s1', 0)).toBe(true);

    expect(await payloads()).toEqual([{ schedule_id: 's1', due_ms: dueMs }]);
  });

  it('is removed from the indexes if it no longer exists', async () => {
    await use.redis.zadd(keys.schedulesDue(), 1, 'gone');
    await use.redis.zadd(keys.schedulesStarting(), 1, 'gone');

    await schedules().requeue('gone', 0);

    expect(await schedules().overdue(0, 0, 10)).toEqual([]);
  });
});
