import { jobStates, type JobEvent, type JobState } from '@svc/lifecycle';
import { openQueue } from '@svc/queues';
import { queues } from '@svc/queues.config';
import { eventually, plainRequest } from '@svc/testing';
import { Worker } from 'bullmq';
import fc from 'fast-check';
import { findKeyName, buildKeys, type Admission } from './index';
import { useStore } from './store.testing';

const shard = 's1';
const keys = buildKeys(shard);
const use = useStore({ shard });
const events = Object.keys(jobStates.moves) as JobEvent[];

const admission = (over: Partial<Admission> = {}): Admission => ({
  lane: { id: 'job.default', spec: '{}', level: 2 },
  dispatchId: 'd1',
  reason: 'no_workers',
  runMs: 60_000,
  deadlineMs: 0,
  tenantCap: 0,
  licenseCap: 100,
  waitMs: 60_000,
  set: {},
  ...over,
});
const worker = (max = 1, id = 'w1') => ({ id, pool: 'p', max });

const claim = async (count: number, max = 100, over: { licenseCap?: number; snapshot?: string } = {}) => {
  const { jobs } = await use.store.jobs.claim({
    worker: worker(max),
    lanes: ['job.default'],
    dispatchIds: Array.from({ length: count }, (_, i) => `c${i}`),
    licenseCap: over.licenseCap ?? 0,
    snapshot: over.snapshot ?? '',
  });
  return jobs;
};
const wait = (id: string, level: number, set: Admission['set'] = {}, tenantCap = 0) =>
  use.store.jobs.admit(id, admission({ lane: { id: 'job.default', spec: '{}', level }, set, tenantCap }));

describe('a state transition', () => {
  it('follows the state machine for random events', async () => {
    let n = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...events), { maxLength: 12 }), async (walk) => {
        const id = `walk-${n++}`;
        await use.accept(id);
        let state: JobState = 'PENDING';
        for (const event of walk) {
          const next = jobStates.next(state, event);
          const outcome = await use.store.jobs.move('*', id, event);
          expect(outcome).toMatchObject(
            next ? { kind: 'moved', from: state, state: next } : { kind: 'refused', state },
          );
          state = next ?? state;
        }
        const path = (await use.store.jobs.events(id)).map(({ from, to }) => [from, to]);
        expect(path.at(-1)?.[1]).toBe(state);
        for (const [i, [from]] of path.entries()) if (i > 0) expect(from).toBe(path[i - 1]?.[1]);
      }),
      { numRuns: 40 },
    );
  });

  it('succeeds for one of many concurrent callers', async () => {
    await use.accept('j');

    const outcomes = await Promise.all(Array.from({ length: 20 }, () => use.store.jobs.move('*', 'j', 'cancel')));

    expect(outcomes.filter(({ kind }) => kind === 'moved')).toHaveLength(1);
    expect(await use.store.jobs.events('j')).toHaveLength(2);
  });

  it('stores the body of a result with the end of its dispatch, and for no other', async () => {
    await use.accept('j');
    await use.store.jobs.admit('j', admission({ worker: worker() }));
    const [old, body] = [Buffer.from('old'), Buffer.from([0, 255, 0xc3, 0x28])];

    for (const guard of [{ dispatchId: 'old' }, { holder: 'w9' }, { from: ['RUNNING'] as const }]) {
      await use.store.jobs.move('*', 'j', 'succeed', { ...guard, resultBody: old });
    }
    expect(await use.store.data.result('j')).toBeNull();
    const move = { dispatchId: 'd1', holder: 'w1', resultBody: body };
    expect(await use.store.jobs.move('*', 'j', 'succeed', move)).toMatchObject({ kind: 'moved' });

    expect(await use.store.data.result('j')).toEqual(body);
    expect(await use.redis.ttl(keys.result('j'))).toBeGreaterThan(0);
    await use.store.jobs.move('*', 'j', 'succeed', { resultBody: old });
    expect(await use.store.data.result('j')).toEqual(body);
  });

  it('is refused to another tenant, and to a stale dispatch or holder', async () => {
    await use.accept('j');
    await use.store.jobs.admit('j', admission({ worker: worker() }));

    expect(await use.store.jobs.move('other', 'j', 'cancel')).toEqual({ kind: 'other_tenant' });
    expect(await use.store.jobs.move('*', 'j', 'succeed', { dispatchId: 'old' })).toEqual({ kind: 'stale' });
    expect(await use.store.jobs.move('*', 'j', 'succeed', { holder: 'w9' })).toEqual({ kind: 'stale' });
    expect(await use.store.jobs.move('*', 'j', 'succeed', { guard: { pool: 'q' } })).toEqual({ kind: 'changed' });
    expect(await use.store.jobs.move('*', 'unknown', 'cancel')).toEqual({ kind: 'missing' });
  });

  it('is refused from states that the caller excluded, even if the state machine allows it', async () => {
    await use.accept('j');

    const narrowed = { from: ['RUNNING', 'DISPATCHED'] } as const;
    expect(await use.store.jobs.move('*', 'j', 'cancel', narrowed)).toEqual({ kind: 'refused', state: 'PENDING' });
    expect(await use.store.jobs.move('*', 'j', 'cancel')).toMatchObject({ kind: 'moved' });
  });

  it('records the start of a job that ends without a write of RUNNING', async () => {
    for (const id of ['early', 'late']) {
      await use.accept(id);
      await use.store.jobs.admit(id, admission({ worker: { ...worker(), max: 0 } }));
    }
    await use.store.jobs.move('*', 'late', 'start');
    const startedAt = (await use.store.jobs.load('early'))?.dispatched_at ?? 0;

    for (const id of ['early', 'late']) await use.store.jobs.move('*', id, 'succeed', { startedAt });

    const [early, late] = await Promise.all(['early', 'late'].map((id) => use.store.jobs.events(id)));
    expect(early?.map(({ event, from }) => [event, from])).toEqual(late?.map(({ event, from }) => [event, from]));
    expect(early?.find(({ event }) => event === 'start')).toMatchObject({ to: 'RUNNING', at: startedAt });
  });

  it('keeps the indexes consistent: one state per job, open until its end, expiry after it', async () => {
    await use.accept('j');

    await use.store.jobs.move('*', 'j', 'cancel');

    const ids = await Promise.all(
      jobStates.states.map((state) => use.redis.zrange(keys.jobsInState('acme', state), 0, '-1')),
    );
    expect(jobStates.states.filter((_, i) => ids[i]?.includes('j'))).toEqual(['CANCELLED']);
    expect(await use.store.jobs.activeCount('acme')).toBe(0);
    expect(await use.redis.ttl(keys.job('j'))).toBeGreaterThan(3_000);
    expect(await use.redis.ttl(keys.context('j'))).toBeGreaterThan(500);
  });
});

describe('accepting', () => {
  const request = (id: string, hash = 'h') => ({
    id,
    tenant: 'acme',
    traceId: 't',
    topic: 'job.default',
    fields: { request: plainRequest, submitter: 's', job_hash: 'h' },
    context: '{}',
    priority: 10,
    activeLimit: 0,
    idempotency: { key: 'order-1', hash, answer: JSON.stringify({ job_id: id }), ttlSec: 60 },
  });

  it('stores one of 50 requests with one idempotency key and replays its response to the others', async () => {
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, i) => use.store.jobs.accept(request(`j${i}`))));

    const winner = outcomes.findIndex(({ kind }) => kind === 'accepted');
    const answers = new Set(outcomes.flatMap((o) => (o.kind === 'replay' ? [o.answer] : [])));
    expect(outcomes.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
    expect([...answers]).toEqual([JSON.stringify({ job_id: `j${winner}` })]);
    expect(await use.store.jobs.activeCount('acme')).toBe(1);
  });

  it('returns conflict when the key was used for another request', async () => {
    await use.store.jobs.accept(request('a', 'one'));

    expect(await use.store.jobs.accept(request('b', 'two'))).toEqual({ kind: 'conflict' });
  });

  it('refuses beyond the tenant’s limit and stores nothing', async () => {
    await use.accept('a');
    const { idempotency: _, ...plain } = request('b');

    expect(await use.store.jobs.accept({ ...plain, activeLimit: 1 })).toEqual({ kind: 'backpressure', active: 1 });
    expect(await use.store.jobs.load('b')).toBeUndefined();
  });

  it('that waits long wakes no worker of its queue, and is delivered', async () => {
    const delivered: number[] = [];
    const worker = new Worker('jobs-waiting', () => Promise.resolve(void delivered.push(Date.now())), {
      connection: { url: use.redisUrl },
      prefix: `{${shard}}`,
    });
    await worker.waitUntilReady();
    await use.accept('a');
    const startedMs = Date.now();
    await use.store.jobs.admit('a', admission({ waitMs: 16_000 }));
    expect(await use.redis.exists(keys.queue('jobs-waiting', 'marker'))).toBe(0);

    await eventually(() => expect(delivered).toHaveLength(1), { withinMs: 25_000 });
    await worker.close();

    expect(delivered[0]).toBeGreaterThanOrEqual(startedMs + 16_000);
  }, 30_000);

  it('writes the same keys as BullMQ’s Queue.add', async () => {
    const queue = openQueue(queues.jobs, { url: use.redisUrl }, shard);
    await queue.add('job.default', { job_id: 'theirs' }, { jobId: 'job-theirs-submit', priority: 10 });
    await use.accept('ours');

    const [theirs, ours] = await Promise.all(
      ['theirs', 'ours'].map((id) => use.redis.hgetall(keys.queue('jobs', `job-${id}-submit`))),
    );
    const shape = (entry: Record<string, string> = {}) => {
      const { data: _d, timestamp: _t, opts = '{}', ...rest } = entry;
      const { jobId: _j, priority: _p, ...kept } = JSON.parse(opts) as Record<string, unknown>;
      return { ...rest, opts: kept, fields: Object.keys(entry).sort() };
    };
    expect(shape(ours)).toEqual(shape(theirs));
    expect(await queue.getJobCounts('prioritized')).toEqual({ prioritized: 2 });
    expect((await queue.getPrioritized()).map(({ data }) => data as unknown)).toEqual([
      { job_id: 'theirs' },
      { job_id: 'ours' },
    ]);
    await queue.close();
  });
});

describe('waiting and claiming', () => {
  it('dispatches no more jobs than slots, and no job overtakes a waiting one', async () => {
    for (const id of ['a', 'b', 'c']) await use.accept(id);

    expect(await use.store.jobs.admit('a', admission({ worker: worker() }))).toEqual({
      kind: 'dispatched',
      attempt: 1,
    });
    expect(await use.store.jobs.admit('b', admission({ worker: worker() }))).toEqual({
      kind: 'waiting',
      reason: 'pool_overloaded',
    });
    expect(await use.store.jobs.admit('c', admission({ worker: worker(9, 'w2') }))).toEqual({
      kind: 'waiting',
      reason: 'pool_overloaded',
    });
    expect(await claim(5, 2)).toMatchObject([{ id: 'b', dispatch_id: 'c0' }]);
  });

  it('returns the records of claimed jobs as they are stored', async () => {
    await use.accept('a', { tenant: 'acme' });
    await wait('a', 2, { safety_snapshot: 'v1', job_hash: 'h' });

    const [claimed] = await claim(1, 9, { licenseCap: 9, snapshot: 'v1' });

    expect(claimed).toEqual(await use.store.jobs.load('a'));
    expect(claimed).toMatchObject({ state: 'DISPATCHED', attempts: 1, worker_id: 'w1', dispatch_id: 'c0', pool: 'p' });
    expect(claimed).not.toHaveProperty('waiting_reason');
  });

  it('orders by priority, then tenant turns, then arrival', async () => {
    const arrivals: [string, string, number][] = [
      ['a1', 'acme', 2],
      ['a2', 'acme', 2],
      ['a3', 'acme', 2],
      ['b1', 'bolt', 2],
      ['b2', 'bolt', 2],
      ['slow', 'acme', 3],
      ['now', 'bolt', 1],
    ];
    for (const [id, tenant, level] of arrivals) {
      await use.accept(id, { tenant });
      await wait(id, level);
    }

    const order = (await claim(10)).map(({ id }) => id);

    expect(order[0]).toBe('now');
    expect(order.at(-1)).toBe('slow');
    const tenants = order.slice(1, 5).map((id) => id[0]);
    expect([...tenants].sort()).toEqual(['a', 'a', 'b', 'b']);
    expect(tenants[0]).not.toBe(tenants[1]);
    expect(order.filter((id) => id.startsWith('a'))).toEqual(['a1', 'a2', 'a3']);
    expect(await use.store.workers.lanes()).toEqual({});
  });

  it('skips a tenant at its own limit, and stops at the limit of the license', async () => {
    for (const [id, tenant] of [
      ['a1', 'acme'],
      ['a2', 'acme'],
      ['b1', 'bolt'],
    ] as const) {
      await use.accept(id, { tenant });
      await wait(id, 2, {}, tenant === 'acme' ? 1 : 0);
    }

    expect((await claim(10)).map(({ id }) => id).sort()).toEqual(['a1', 'b1']);
    expect(await claim(10, 100, { licenseCap: 2 })).toEqual([]);
    await use.store.jobs.move('*', 'a1', 'succeed');
    expect((await claim(10, 100, { licenseCap: 2 })).map(({ id }) => id)).toEqual(['a2']);
  });

  it('requeues a job for a decision when the policy has changed', async () => {
    await use.accept('a');
    await wait('a', 2, { safety_snapshot: 'old' });

    expect(await claim(1, 10, { snapshot: 'new' })).toEqual([]);
    expect(await use.store.jobs.load('a')).toMatchObject({ state: 'PENDING', parked: '', lane: '' });
    expect(await use.redis.zcard(keys.queue('jobs', 'prioritized'))).toBe(2);
  });

  it('removes all traces of a job that is cancelled while it waits or runs', async () => {
    for (const id of ['a', 'b']) await use.accept(id);
    await use.store.jobs.admit('a', admission({ worker: worker() }));
    await wait('b', 2);

    for (const id of ['a', 'b']) await use.store.jobs.move('*', id, 'cancel');

    expect(await use.store.workers.inFlight('w1')).toEqual([]);
    expect(await use.store.workers.lanes()).toEqual({});
    for (const queue of ['jobs-waiting', 'jobs-in-flight']) {
      expect(await use.redis.zcard(keys.queue(queue, 'delayed'))).toBe(0);
    }
  });
});

describe('ids', () => {
  it('that are BullMQ keywords or end like another key are accepted', async () => {
    for (const id of ['failed', 'wait', 'meta', 'x', 'x:events', 'run:step@1']) {
      await use.accept(id);
      await wait(id, 2);
      expect(await use.store.jobs.load(id)).toMatchObject({ id, state: 'PENDING', waiting_reason: 'no_workers' });
    }

    expect((await claim(10)).map(({ id }) => id).sort()).toEqual([
      'failed',
      'meta',
      'run:step@1',
      'wait',
      'x',
      'x:events',
    ]);
    for (const id of ['failed', 'x:events']) {
      expect(await use.store.jobs.move('*', id, 'cancel')).toMatchObject({ kind: 'moved' });
    }
  });
});

describe('the key table', () => {
  it('declares every key in Redis after these tests', async () => {
    await use.accept('a');
    await use.store.jobs.admit('a', admission({ worker: worker() }));
    await use.accept('b');
    await use.store.jobs.admit('b', admission());
    await use.accept('c');
    await use.store.jobs.move('*', 'c', 'deny', {
      deadLetter: { body: '{"job_id":"c"}', ttl_sec: 60, topic: 'job.default', reason: 'no' },
      intent: '{}',
      decision: { decision: 'DENY', checked_at: 1, source: 'scheduler' },
    });

    const stray = (await use.redis.keys('*')).filter((key) => findKeyName(key, shard) === undefined);

    expect(stray).toEqual([]);
  });
});
