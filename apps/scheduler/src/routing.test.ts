import { heartbeatPacket } from '@svc/contract';
import { needsFromSpec, type Pool, type PoolTable, toLane, toRoutingNeeds } from '@svc/routing';
import { decideJob } from '@svc/dispatch';
import { keys } from '@svc/store';
import { eventually } from '@svc/testing';
import { ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();

const pool = (name: string, over: Partial<Pool> = {}): Pool => ({
  name,
  requires: [],
  status: 'active',
  description: '',
  ...over,
});
const pools = (...all: Pool[]): PoolTable => ({
  topics: { 'job.>': all.map(({ name }) => name) },
  pools: Object.fromEntries(all.map((one) => [one.name, one])),
});
const waitFor = (ids: readonly string[], waiting_reason: string) =>
  Promise.all(ids.map((id) => use.until(id, 'PENDING', { waiting_reason })));

describe('without a worker, a job', () => {
  it('waits with that reason, and runs as soon as a worker starts, without any loop', async () => {
    await use.start({ withoutLoops: true });
    const id = await use.submit();
    await waitFor([id], 'no_workers');

    await use.worker({ id: 'w1' });

    const job = await use.until(id, 'SUCCEEDED');
    expect(job.waiting_reason).toBeUndefined();
  });

  it('whose topic has no pool waits with that reason', async () => {
    await use.start({ pools: { topics: { 'job.other': ['main'], 'job.work': ['gone'] }, pools: {} } });

    await waitFor([await use.submit()], 'no_pool_mapping');
  });

  it('is never dispatched to a draining pool', async () => {
    await use.start({ pools: pools(pool('main', { status: 'draining' }), pool('next')) });
    const old = await use.rawWorker({ id: 'old' });
    await use.worker({ id: 'new', pool: 'next' });

    await use.until(await use.submit(), 'SUCCEEDED', { worker_id: 'new' });
    expect(old.received).toEqual([]);
  });
});

describe('a full worker', () => {
  it('never holds more jobs than it has slots, and all run in the end', async () => {
    await use.start();
    let running = 0;
    let most = 0;
    const topics = {
      'job.>': async () => {
        most = Math.max(most, (running += 1));
        await new Promise((resume) => setTimeout(resume, 5));
        running -= 1;
      },
    };
    await use.worker({ id: 'w1', concurrency: 2, topics });
    const raw = await use.rawWorker({ id: 'w2', max: 1 });

    const ids = await Promise.all(Array.from({ length: 30 }, () => use.submit()));
    // The raw worker never answers, so it keeps its job and gets no second one.
    await eventually(async () => expect(await use.store.index.openBefore('acme', Infinity, 50)).toHaveLength(1));

    expect(raw.received).toHaveLength(1);
    const [stuck] = raw.received;
    if (stuck) await raw.answer(stuck);
    for (const id of ids) await use.until(id, 'SUCCEEDED', { attempts: 1 });
    expect(most).toBe(2);
  });

  it('serves critical before interactive before batch, regardless of arrival order', async () => {
    await use.start({ config: { resources: { preemption_enabled: false } } });
    const worker = await use.rawWorker({ id: 'w1' });
    const blocker = await use.submit();
    const held = await worker.dispatched(blocker);
    const batch = [await use.submit({ priority: 'batch' }), await use.submit({ priority: 'batch' })];
    const interactive = [await use.submit(), await use.submit()];
    const critical = [await use.submit({ priority: 'critical' })];
    const waiting = [...batch, ...interactive, ...critical];
    await waitFor(waiting, 'pool_overloaded');

    await worker.answer(held);
    for (let served = 2; served <= 6; served++) {
      await eventually(() => expect(worker.received).toHaveLength(served));
      const latest = worker.received.at(-1);
      if (latest) await worker.answer(latest);
    }

    expect(worker.order()).toEqual([blocker, ...critical, ...interactive, ...batch]);
  });

  it('keeps a new job behind waiting ones', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const first = await use.submit();
    const held = await worker.dispatched(first);
    const second = await use.submit();
    await waitFor([second], 'pool_overloaded');
    const third = await use.submit();
    await waitFor([third], 'pool_overloaded');

    await worker.answer(held);
    await worker.answer(await worker.dispatched(second));
    await worker.dispatched(third);

    expect(worker.order()).toEqual([first, second, third]);
  });

  it('gives a tenant of higher weight more turns', async () => {
    await use.orgConfig('heavy', { scheduler: { weight: 3 } });
    await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const held = await worker.dispatched(await use.submit({}, 'other'));
    const waiting: string[] = [];
    for (const tenant of ['light', 'heavy']) for (let i = 0; i < 8; i++) waiting.push(await use.submit({}, tenant));
    await waitFor(waiting, 'pool_overloaded');

    await worker.answer(held);
    for (let served = 2; served <= 9; served++) {
      await eventually(() => expect(worker.received).toHaveLength(served));
      const latest = worker.received.at(-1);
      if (latest) await worker.answer(latest);
    }

    const heavy = worker.received.slice(1, 9).filter(({ tenant_id }) => tenant_id === 'heavy');
    expect(heavy).toHaveLength(6);
  });

  it('serves tenants in turn, so that a small tenant does not wait for the backlog of a large one', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const held = await worker.dispatched(await use.submit({}, 'big'));
    const big: string[] = [];
    for (let i = 0; i < 6; i++) big.push(await use.submit({}, 'big'));
    await waitFor(big, 'pool_overloaded');
    const small = [await use.submit({}, 'small'), await use.submit({}, 'small')];
    await waitFor(small, 'pool_overloaded');

    await worker.answer(held);
    for (let served = 2; served <= 5; served++) {
      await eventually(() => expect(worker.received).toHaveLength(served));
      const latest = worker.received.at(-1);
      if (latest) await worker.answer(latest);
    }

    const tenants = worker.received.slice(1, 5).map(({ tenant_id }) => tenant_id);
    expect([...tenants].sort()).toEqual(['big', 'big', 'small', 'small']);
  });
});

describe('worker requirements of a job', () => {
  it('a free worker of another tenant does not keep a job waiting that enters an idle lane', async () => {
    const { ctx } = await use.start({ idle: true });
    const id = await use.submit();
    await decideJob(ctx, id);
    ctx.registry.restrict((worker) =>
      worker === 'other' ? { tenant: 'globex', pools: ['*'], topics: ['job.>'] } : undefined,
    );
    for (const worker_id of ['other', 'w1']) {
      const head = { trace_id: '', sender_id: worker_id, nowUs: 1 };
      const { body } = heartbeatPacket(head, { worker_id, pool: 'main', max_parallel_jobs: 1, active_jobs: 0 });
      ctx.registry.heartbeat(body, ctx.clock.nowMs());
    }

    await ctx.laneDispatcher.dispatchFromLane(toLane(toRoutingNeeds('job.work', [], {})));

    expect(await use.job(id)).toMatchObject({ state: 'DISPATCHED', worker_id: 'w1' });
  });

  it.each(['preferred_worker_id', 'affinity'])(
    'jobs that wait with %s are left to their worker while it has capacity',
    async (label) => {
      const { ctx } = await use.start({ idle: true });
      const beat = (worker_id: string, active_jobs: number) => {
        const head = { trace_id: '', sender_id: worker_id, nowUs: 1 };
        const { body } = heartbeatPacket(head, { worker_id, pool: 'main', max_parallel_jobs: 1, active_jobs });
        ctx.registry.heartbeat(body, ctx.clock.nowMs());
      };
      for (const worker of ['w1', 'w2']) beat(worker, 1);
      const wanted = await use.submit({ labels: { [label]: 'w1' } });
      const plain = await use.submit();
      for (const id of [wanted, plain]) await decideJob(ctx, id);
      for (const worker of ['w1', 'w2']) beat(worker, 0);
      const lanes = Object.values(await use.store.workers.lanes()).map((spec) => needsFromSpec(spec));
      const awaited = lanes.flatMap(({ preferredWorkerId }) => preferredWorkerId ?? [])[0] ?? '';
      const other = awaited === 'w1' ? 'w2' : 'w1';

      await ctx.laneDispatcher.dispatchTo(other);
      await ctx.laneDispatcher.dispatchTo(awaited);

      await use.until(wanted, 'RUNNING', { worker_id: awaited });
      await use.until(plain, 'RUNNING', { worker_id: other });
    },
  );

  it('required capabilities select the pool and its workers that have them', async () => {
    const { metrics } = await use.start({ pools: pools(pool('main'), pool('gpus', { requires: ['gpu'] })) });
    await use.worker({ id: 'plain' });
    await use.worker({ id: 'boast', pool: 'gpus' });
    await use.rawWorker({ id: 'other', pool: 'gpus', capabilities: ['disk'] });
    const id = await use.submit({ requires: [' GPU '] });
    await waitFor([id], 'missing_capability: gpu');
    // Counted after the record is written.
    await eventually(async () => expect(await metrics()).toContain('reason="missing_capability"'));

    await use.worker({ id: 'able', pool: 'gpus', capabilities: ['gpu'] });

    await use.until(id, 'SUCCEEDED', { worker_id: 'able' });
  });

  it('a capability that no pool offers has no pool', async () => {
    await use.start();
    await use.worker({ id: 'w1' });

    await waitFor([await use.submit({ requires: ['quantum'] })], 'no_pool_mapping');
  });

  it('placement labels must equal the worker’s', async () => {
    await use.start();
    await use.worker({ id: 'north', labels: { 'placement.zone': 'n' } });
    const id = await use.submit({ labels: { 'placement.zone': 's' } });
    await waitFor([id], 'no_workers');

    await use.worker({ id: 'south', labels: { 'placement.zone': 's' } });

    await use.until(id, 'SUCCEEDED', { worker_id: 'south' });
  });

  it('preferred_pool excludes other pools; preferred_worker_id wins while it has capacity and is skipped otherwise', async () => {
    await use.start({ pools: pools(pool('main'), pool('side')) });
    await use.worker({ id: 'm1' });
    await use.worker({ id: 's1', pool: 'side' });
    const wanted = await use.rawWorker({ id: 's2', pool: 'side', max: 1 });
    const labels = { preferred_pool: 'side', preferred_worker_id: 's2' };

    const first = await use.submit({ labels });
    await wanted.dispatched(first);
    const second = await use.submit({ labels });

    await use.until(second, 'SUCCEEDED', { worker_id: 's1' });
    await waitFor([await use.submit({ labels: { preferred_pool: 'nowhere' } })], 'no_pool_mapping');
  });

  it('a draining worker finishes its jobs and gets no new ones', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1', max: 5 });
    const first = await use.submit();
    const held = await worker.dispatched(first);

    worker.shake({ draining: true });
    await worker.connection.flush();
    await eventually(() => expect(use.packets.some(({ subject }) => subject === 'sys.handshake')).toBe(true));
    const second = await use.submit();

    await waitFor([second], 'no_workers');
    await worker.answer(held);
    await use.until(first, 'SUCCEEDED');
    worker.shake();
    await worker.dispatched(second);
  });

  const required = { boundary_hardening: { worker_readiness_required: true } };
  it.each([
    ['the environment', { env: { workerReadinessRequired: true } }],
    ['config', { config: required }],
  ])('when %s requires readiness, a worker without a readiness announcement gets no job', async (_who, plan) => {
    await use.start(plan);
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    await waitFor([id], 'no_workers');

    worker.shake({ topics: ['job.work'] });

    await worker.dispatched(id);
  });

  it('the environment overrides config', async () => {
    await use.start({ env: { workerReadinessRequired: false }, config: required });
    const worker = await use.rawWorker({ id: 'w1' });

    await worker.dispatched(await use.submit());
  });

  it('a tenant cannot change it for shared workers', async () => {
    await use.orgConfig('acme', required);
    await use.start();
    const worker = await use.rawWorker({ id: 'w1' });

    await worker.dispatched(await use.submit());
  });
});

describe('a critical job that finds every worker full', () => {
  it('preempts a batch job, which is requeued without using a retry', async () => {
    const { events } = await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const batch = await use.submit({ priority: 'batch' });
    const held = await worker.dispatched(batch);

    const critical = await use.submit({ priority: 'critical' });

    const cancels = await use.published('job_cancel', 'sys.job.cancel', batch);
    expect(cancels).toMatchObject([{ reason: 'preempted', grace_sec: 30 }]);
    expect(await use.job(batch)).toMatchObject({ state: 'RETRYING', preempted: 1, retry_count: 0 });
    await worker.answer(held, 'CANCELLED');
    await worker.answer(await worker.dispatched(critical));
    await worker.answer(await worker.dispatched(batch, 2));
    await use.until(critical, 'SUCCEEDED');
    await use.until(batch, 'SUCCEEDED', { retry_count: 0, attempts: 2 });
    expect(events).toContainEqual(['preempted', batch]);
  });

  it('grants the preempted job its configured grace period, in which no other worker gets it', async () => {
    await use.orgConfig('slow', { resources: { preemption_grace_period: 600 } });
    await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const batch = await use.submit({ priority: 'batch' }, 'slow');
    await worker.dispatched(batch);

    const critical = await use.submit({ priority: 'critical' });

    expect(await use.published('job_cancel', 'sys.job.cancel', batch)).toMatchObject([{ grace_sec: 600 }]);
    await worker.answer(await worker.dispatched(critical));
    await use.until(critical, 'SUCCEEDED');
    const other = await use.rawWorker({ id: 'w2' });
    expect(await use.redis.hget(`{s0}:jobs:job-${batch}-preempted-1`, 'delay')).toBe('600000');
    await use.promote();
    await Promise.race([worker.dispatched(batch, 2), other.dispatched(batch)]);
  });

  it('skips a job that has ended but still occupies the worker', async () => {
    await use.start({ withoutLoops: true });
    const worker = await use.rawWorker({ id: 'w1' });
    const batch = await use.submit({ priority: 'batch' });
    const held = await worker.dispatched(batch);
    await worker.answer(held);
    await use.until(batch, 'SUCCEEDED');
    const running = await use.submit({ priority: 'batch' });
    await worker.dispatched(running);
    await use.redis.sadd(keys.workerInFlight('w1'), batch);
    await use.redis.hset(keys.job(batch), 'started_at', String(Date.now() * 2_000));

    await use.submit({ priority: 'critical' });

    await use.until(running, 'RETRYING', { preempted: 1 });
    expect((await use.job(batch)).state).toBe('SUCCEEDED');
  });

  it('never preempts a non-interruptible batch job or an interactive job', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1', max: 2 });
    const firm = await use.submit({ priority: 'batch', labels: { preemptible: 'false' } });
    const plain = await use.submit();
    await Promise.all([worker.dispatched(firm), worker.dispatched(plain)]);

    const critical = await use.submit({ priority: 'critical' });

    await waitFor([critical], 'pool_overloaded');
    expect(worker.order().sort()).toEqual([firm, plain].sort());
    expect(use.bodies('job_cancel', 'sys.job.cancel')).toEqual([]);
  });
});

describe('concurrency limits', () => {
  it('of a tenant, set by policy, apply to that tenant only', async () => {
    const limit = 'constraints: { budgets: { max_concurrent_jobs: 1 } }';
    await use.start({ policy: ruled('allow_with_constraints', limit) });
    const worker = await use.rawWorker({ id: 'w1', max: 10 });
    const first = await use.submit();
    const held = await worker.dispatched(first);

    const second = await use.submit();
    const other = await use.submit({}, 'other');

    await waitFor([second], 'tenant_limit');
    await worker.dispatched(other);
    await worker.answer(held);
    await worker.dispatched(second);
  });

  it('of any number of tenants do not delay the turn of another', async () => {
    const limit = 'constraints: { budgets: { max_concurrent_jobs: 1 } }';
    await use.start({ policy: ruled('allow_with_constraints', limit) });
    const worker = await use.rawWorker({ id: 'w1', max: 100 });
    const tenants = Array.from({ length: 70 }, (_, i) => `t${i}`);
    const first = await Promise.all(tenants.map((tenant) => use.submit({}, tenant)));
    const held = await Promise.all(first.map((id) => worker.dispatched(id)));
    await waitFor(await Promise.all(tenants.map((tenant) => use.submit({}, tenant))), 'tenant_limit');

    await worker.dispatched(await use.submit({}, 'late'));

    for (const request of held) await worker.answer(request);
    await eventually(() => expect(worker.received).toHaveLength(2 * tenants.length + 1));
  });

  it('of the Community license: three in flight, the fourth waits until one ends', async () => {
    await use.start({ plan: 'community' });
    const worker = await use.rawWorker({ id: 'w1', max: 10 });
    const ids = [await use.submit(), await use.submit(), await use.submit()];
    const [held] = await Promise.all(ids.map((id) => worker.dispatched(id)));

    const fourth = await use.submit();

    await waitFor([fourth], 'tier_limit');
    if (held) await worker.answer(held);
    await worker.dispatched(fourth);
  });

  it('of the Community license: of workers that register at once, three are accepted', async () => {
    const scheduler = await use.start({ plan: 'community' });

    await Promise.all(Array.from({ length: 8 }, (_, i) => use.rawWorker({ id: `w${i}` })));

    await eventually(() => expect(refused(scheduler.events).size).toBe(5));
    expect(scheduler.ctx.registry.records()).toHaveLength(3);
  });
});

const refused = (events: readonly (readonly unknown[])[]) =>
  new Set(events.flatMap(([name, worker]) => (name === 'workerRefused' ? [worker] : [])));
