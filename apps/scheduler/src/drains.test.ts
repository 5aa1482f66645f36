import type { Pool, PoolTable } from '@svc/routing';
import { finishDrains } from '@svc/registry';
import { readDocument } from '@svc/settings';
import { eventually } from '@svc/testing';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const started = { drain_started_at: new Date().toISOString(), drain_timeout_seconds: 300 };
const pool = (name: string, over: Partial<Pool> = {}): Pool => ({
  name,
  requires: [],
  status: 'active',
  description: '',
  ...over,
});

/** The table that a process has read, which tests change apart from the stored document. */
const buildTable = (...names: string[]) => {
  const pools: Record<string, Pool> = Object.fromEntries(names.map((name) => [name, pool(name)]));
  return { topics: { 'job.>': names }, pools } satisfies PoolTable;
};
type Table = ReturnType<typeof buildTable>;
/** Writes the document, without a notice to any process. */
const store = ({ topics }: Table, main: Partial<Pool>) => use.config({ pools: { topics, pools: { main, spare: {} } } });
const stored = async () => {
  const document = await readDocument({ store: use.store }, { scope: 'system', scope_id: 'default' });
  return (document?.data['pools'] as { pools: { main: Pool } } | undefined)?.pools.main;
};
const notices = { onNoticeFailed: () => undefined };

describe('a pool that drains', () => {
  it('gets no job from processes that have not read of it, and is inactive when its last job has ended', async () => {
    const table = buildTable('main');
    await use.start({ pools: table });
    const worker = await use.rawWorker({ id: 'w1', max: 4 });
    const gateway = await use.gateway();
    await gateway.knows('w1');
    const running = await use.submit();
    const request = await worker.dispatched(running);
    await use.until(running, 'RUNNING');

    await store(table, { status: 'draining', ...started });
    const decided = await use.submit();
    await use.until(decided, 'PENDING', { parked: 'jobWaiting', waiting_reason: 'no_pool_mapping' });
    const waiting = [decided, await use.place(gateway.placement)];
    for (const id of waiting) await use.until(id, 'PENDING', { parked: 'jobWaiting' });
    table.pools['main'] = pool('main', { status: 'draining', ...started });
    // The slot that this end frees stays free.
    await worker.answer(request);

    await use.until(running, 'SUCCEEDED');
    // The loop that ends drains runs every 10 s.
    const inactive = { requires: [], status: 'inactive', description: '' };
    await eventually(async () => expect(await stored()).toEqual(inactive), { withinMs: 25_000 });
    expect(worker.order()).toEqual([running]);

    await store(table, { status: 'active' });
    table.pools['main'] = pool('main');
    for (const id of waiting) await worker.answer(await worker.dispatched(id));
    for (const id of waiting) await use.until(id, 'SUCCEEDED', { attempts: 1 });
  });

  it('leaves its jobs to the next pool of the topic', async () => {
    const table = buildTable('main', 'spare');
    await use.start({ pools: table });
    await use.rawWorker({ id: 'w1', max: 4 });
    const spare = await use.rawWorker({ id: 'w2', pool: 'spare', max: 4 });
    const gateway = await use.gateway();
    await gateway.knows('w1');
    await store(table, { status: 'draining', ...started });

    const ids = [await use.submit(), await use.place(gateway.placement)];
    table.pools['main'] = pool('main', { status: 'draining', ...started });

    for (const id of ids) await spare.answer(await spare.dispatched(id));
    for (const id of ids) await use.until(id, 'SUCCEEDED', { pool: 'spare' });
  });

  it('gets no job when it was deleted, also from processes that still have it in their table', async () => {
    const table = buildTable('main', 'spare');
    await use.start({ pools: table });
    const deleted = await use.rawWorker({ id: 'w1', max: 4 });
    const spare = await use.rawWorker({ id: 'w2', pool: 'spare', max: 4 });
    const gateway = await use.gateway();
    await gateway.knows('w1');
    await use.config({ pools: { topics: { 'job.>': ['spare'] }, pools: { spare: {} } } });

    const ids = [await use.submit(), await use.place(gateway.placement)] as const;
    // A free worker of the other pool may have taken them already.
    const placed = async () => expect((await use.job(ids[0])).parked).toMatch(/^job(Waiting|Running)$/);
    await eventually(placed, { withinMs: 15_000 });
    Object.assign(table, buildTable('spare'));

    for (const id of ids) await spare.answer(await spare.dispatched(id));
    for (const id of ids) await use.until(id, 'SUCCEEDED', { pool: 'spare' });
    expect(deleted.order()).toEqual([]);
  });

  it('is inactive after its timeout, and its jobs continue', async () => {
    const table = buildTable('main');
    const { ctx, metrics } = await use.start({ pools: table });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    const request = await worker.dispatched(id);
    await use.until(id, 'RUNNING');
    table.pools['main'] = pool('main', { status: 'draining', ...started });
    await store(table, { status: 'draining', ...started });

    expect(await metrics()).toMatch(/svc_scheduler_workers\{[^}]*pool="main",state="draining"[^}]*\} 1/);
    expect(await finishDrains({ ...ctx, ...notices })).toEqual([]);
    const late = { nowMs: () => Date.parse(started.drain_started_at) + 301_000, nowUs: () => 0 };
    expect(await finishDrains({ ...ctx, ...notices, clock: late })).toEqual(['main']);

    expect(await stored()).toMatchObject({ status: 'inactive' });
    await worker.answer(request);
    await use.until(id, 'SUCCEEDED', { attempts: 1 });
  });

  it('becomes inactive once, by whichever scheduler is there', async () => {
    const table = buildTable('main');
    const { ctx } = await use.start({ pools: table, idle: true });
    table.pools['main'] = pool('main', { status: 'draining', ...started });
    await store(table, { status: 'draining', ...started });
    const other = await use.start({ pools: table, idle: true });

    const finished = await Promise.all([ctx, other.ctx].map((each) => finishDrains({ ...each, ...notices })));

    expect(finished.flat()).toEqual(['main']);
    expect(await finishDrains({ ...ctx, ...notices })).toEqual([]);
  });

  it('stays active when it is activated during the check', async () => {
    const table = buildTable('main');
    const { ctx } = await use.start({ pools: table, idle: true });
    table.pools['main'] = pool('main', { status: 'draining', ...started });
    await store(table, { status: 'draining', ...started });
    const hasJobsInPool = async () => {
      await store(table, { status: 'active' });
      return false;
    };
    const index = Object.assign(Object.create(ctx.store.index) as typeof ctx.store.index, { hasJobsInPool });

    expect(await finishDrains({ ...ctx, ...notices, store: { config: ctx.store.config, index } })).toEqual([]);

    expect(await stored()).toMatchObject({ status: 'active' });
  });

  it('has its time counted from the first check when the pools file says so without a start', async () => {
    const table = buildTable('main');
    const { ctx } = await use.start({ pools: table, idle: true });
    table.pools['main'] = pool('main', { status: 'draining' });
    await store(table, { status: 'draining' });

    expect(await finishDrains({ ...ctx, ...notices })).toEqual([]);
    expect(await stored()).toMatchObject({ status: 'draining', drain_started_at: expect.any(String) });
    expect(await finishDrains({ ...ctx, ...notices })).toEqual(['main']);
  });
});
