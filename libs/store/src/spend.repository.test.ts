import type { JobEvent } from '@svc/lifecycle';
import fc from 'fast-check';
import { buildKeys, type Reservation, type SpendAccount } from './index';
import { useStore } from './store.testing';

const shard = 's1';
const keys = buildKeys(shard);
const use = useStore({ shard });

const account = (over: Partial<SpendAccount> = {}): SpendAccount => ({
  account: 'tenant:acme',
  period: '2026-11-22',
  limit: 100,
  action: 'throttle',
  alerts: [50, 100],
  ttlSec: 600,
  ...over,
});
const asking = (micros: number, accounts: SpendAccount[], over: Partial<Reservation['run']> = {}): Reservation => ({
  micros,
  accounts,
  run: { limit: 0, action: 'throttle', ...over },
});
const reserve = (id: string, micros: number, over: Partial<SpendAccount> = {}) =>
  use.store.spend.reserve(id, asking(micros, [account(over)]));
const spending = async (over: Partial<SpendAccount> = {}) => (await use.store.spend.read([account(over)]))[0];
const end = (id: string, event: JobEvent = 'cancel', cost?: number) =>
  use.store.jobs.move('*', id, event, { set: { ...(cost !== undefined && { cost }) } });
const run = (id: string, over: { parentId?: string; budget?: { limit: number; action: string } } = {}) =>
  use.redis.hset(keys.run(id), {
    id,
    ...(over.parentId && { parent: over.parentId }),
    ...(over.budget && { cost_limit: over.budget.limit, cost_action: over.budget.action }),
  });
const runMoney = async (id: string) =>
  (await use.redis.hmget(keys.run(id), 'cost_reserved', 'cost_spent')).map((text) => Number(text ?? 0));

/** A worker has had it. */
const sent = async (id: string) => {
  await use.redis.hset(keys.job(id), 'attempts', 1);
};

describe('a reservation', () => {
  it('holds until the job ends, when its cost is committed', async () => {
    await use.accept('j1');

    expect(await reserve('j1', 60, { center: 'research' })).toEqual({ kind: 'reserved' });
    expect(await spending()).toMatchObject({ reserved: 60, spent: 0 });
    await end('j1', 'succeed', 45);

    expect(await spending()).toEqual({ reserved: 0, spent: 45, byCenter: { research: 45 }, alertedPercents: [50] });
    expect(await use.store.jobs.load('j1')).toMatchObject({ state: 'SUCCEEDED', cost: 45 });
    expect((await use.store.jobs.load('j1'))?.reserved).toBeUndefined();
  });

  it('counts for a cost centre with half a surrogate pair in its name, as for any other', async () => {
    await use.accept('j1');

    expect(await reserve('j1', 60, { center: '\ud800' })).toEqual({ kind: 'reserved' });
    await end('j1', 'succeed', 45);

    expect((await spending())?.byCenter).toEqual({ '\ufffd': 45 });
  });

  it.each([
    ['is charged if the job was dispatched and its worker reported no cost', 1, 60],
    ['is released if the job was never dispatched', 0, 0],
  ])('%s', async (_, attempts, spent) => {
    await use.accept('j1');
    await reserve('j1', 60);
    if (attempts > 0) await sent('j1');

    await end('j1');

    expect(await spending()).toMatchObject({ reserved: 0, spent });
  });

  it('is made once by repeated calls, and committed once even if a success is withheld later', async () => {
    await use.accept('j1');

    await Promise.all(Array.from({ length: 5 }, () => reserve('j1', 30)));
    expect(await spending()).toMatchObject({ reserved: 30 });
    await end('j1', 'succeed', 20);
    await end('j1', 'quarantine', 99);

    expect(await spending()).toMatchObject({ reserved: 0, spent: 20 });
  });

  it('of the highest possible estimate is released to the last micro', async () => {
    await use.accept('j1');

    await reserve('j1', 999_999_999_999, { action: 'alert' });
    expect(await spending()).toMatchObject({ reserved: 999_999_999_999 });
    await end('j1');

    expect(await spending()).toMatchObject({ reserved: 0, spent: 0 });
  });

  it('has separate counters for a thousand cost centres, and one for all others', async () => {
    const filled = Array.from({ length: 1_000 }, (_, i) => [`center:c${i}`, '1']).flat();
    await use.redis.hset(keys.spend('tenant:acme', '2026-11-22'), ...filled);
    for (const [id, center] of [
      ['j1', 'c7'],
      ['j2', 'new'],
      ['j3', 'newer'],
    ] as const) {
      await use.accept(id);
      await reserve(id, 5, { center });
      await end(id, 'succeed', 5);
    }

    const { byCenter = {} } = (await spending()) ?? {};
    expect([byCenter['c7'], byCenter['new'], byCenter['other']]).toEqual([6, undefined, 10]);
  });

  it('of an expired period leaves no keys', async () => {
    await use.accept('j1');
    await reserve('j1', 60);
    await use.redis.del(keys.spend('tenant:acme', '2026-11-22'));

    await end('j1', 'succeed', 45);

    expect(await use.redis.exists(keys.spend('tenant:acme', '2026-11-22'))).toBe(0);
  });

  it('is not made for a job that has ended or does not exist', async () => {
    await use.accept('j1');
    await end('j1');

    expect(await reserve('j1', 1)).toEqual({ kind: 'refused', state: 'CANCELLED' });
    expect(await reserve('j2', 1)).toEqual({ kind: 'missing' });
    expect(await spending()).toMatchObject({ reserved: 0 });
  });

  it('never exceeds the limit under concurrent calls', async () => {
    const ids = Array.from({ length: 20 }, (_, i) => `j${i}`);
    for (const id of ids) await use.accept(id);

    const outcomes = await Promise.all(ids.map((id) => reserve(id, 30)));

    expect(outcomes.filter(({ kind }) => kind === 'reserved')).toHaveLength(3);
    expect(await spending()).toMatchObject({ reserved: 90 });
  });

  it('is made in all accounts or in none', async () => {
    await use.accept('j1');
    const small = account({ account: 'team:acme:ml', limit: 10 });

    const outcome = await use.store.spend.reserve('j1', asking(11, [account(), small]));

    expect(outcome).toEqual({ kind: 'over', action: 'deny', of: { account: 1 }, limit: 10, spent: 0, reserved: 0 });
    expect(await spending()).toMatchObject({ reserved: 0 });
  });

  it.each([
    ['throttle', 'another day may have room', 50, 'throttle'],
    ['throttle', 'the job is larger than the limit', 101, 'deny'],
    ['deny', 'the limit says so', 50, 'deny'],
  ] as const)('with %s, beyond the limit: %s', async (action, _, micros, expected) => {
    await use.accept('j1');
    await use.accept('j2');
    await reserve('j1', 60);

    const outcome = await reserve('j2', micros, { action });

    expect(outcome).toMatchObject({ kind: 'over', action: expected, limit: 100, reserved: 60 });
  });

  it('with action alert may exceed the limit', async () => {
    await use.accept('j1');

    expect(await reserve('j1', 500, { action: 'alert' })).toEqual({ kind: 'reserved' });
  });

  it('of a job without an estimate waits only if nothing is left', async () => {
    await use.accept('j1');
    await use.accept('j2');
    await use.accept('j3');
    await reserve('j1', 99);

    expect(await reserve('j2', 0)).toEqual({ kind: 'reserved' });
    await end('j2', 'succeed', 1);

    expect(await reserve('j3', 0)).toMatchObject({ kind: 'over', spent: 1, reserved: 99 });
  });
});

describe('a run', () => {
  const inRun = (id: string, of: string) => use.accept(id, { fields: { run: of } });

  it('accumulates the cost of its jobs, as do its ancestors, even without a budget', async () => {
    await run('top');
    await run('below', { parentId: 'top' });
    await inRun('j1', 'below');
    await inRun('j2', 'below');
    await use.store.spend.reserve('j1', asking(10, []));

    expect([await runMoney('top'), await runMoney('below')]).toEqual([[10, 0], [10, 0]]); // prettier-ignore
    await end('j1', 'succeed', 7);
    await end('j2', 'succeed', 5);

    expect([await runMoney('top'), await runMoney('below')]).toEqual([[0, 12], [0, 12]]); // prettier-ignore
  });

  it('is bounded by its own limit and that of its parent run', async () => {
    await run('top', { budget: { limit: 20, action: 'throttle' } });
    await run('below', { parentId: 'top' });
    for (const id of ['j1', 'j2', 'j3']) await inRun(id, 'below');
    const ask = (id: string) => use.store.spend.reserve(id, asking(15, [], { limit: 1_000 }));

    expect(await ask('j1')).toEqual({ kind: 'reserved' });
    expect(await ask('j2')).toMatchObject({ kind: 'over', action: 'throttle', of: { run: 'top' }, reserved: 15 });
    await end('j1', 'succeed', 15);

    // Nothing under way could give anything back, so waiting is no help.
    expect(await ask('j2')).toMatchObject({ kind: 'over', action: 'deny', of: { run: 'top' }, spent: 15 });
  });

  it('that has expired is not recreated by the cost of its jobs', async () => {
    await inRun('j1', 'gone');
    await use.store.spend.reserve('j1', asking(10, []));

    await end('j1', 'succeed', 3);

    expect(await use.redis.exists(keys.run('gone'))).toBe(0);
  });
});

describe('alerts', () => {
  it('are added once per threshold, and kept until they are published', async () => {
    for (const id of ['j1', 'j2', 'j3']) await use.accept(id);
    await reserve('j1', 49);
    expect(await use.store.spend.alerts(10)).toEqual([]);

    await reserve('j2', 2);
    await end('j1', 'succeed', 120);
    await end('j2', 'succeed', 1);
    const alerts = await use.store.spend.alerts(10);

    expect(alerts).toMatchObject([
      { account: 'tenant:acme', period: '2026-11-22', percent: 50, limit: 100, reserved: 51 },
      { percent: 100, spent: 120, reserved: 2 },
    ]);
    await use.store.spend.removeAlerts(alerts.slice(0, 1));
    expect(await use.store.spend.alerts(10)).toEqual(alerts.slice(1));
    // A process that was frozen confirms the same alerts again.
    await use.store.spend.removeAlerts(alerts.slice(0, 1));
    expect(await use.store.spend.alerts(10)).toEqual(alerts.slice(1));
  });
});

describe('the limit of a run with alert', () => {
  it('adds one alert and blocks no job', async () => {
    await run('r1');
    for (const id of ['j1', 'j2', 'j3']) {
      await use.accept(id, { fields: { run: 'r1' } });
      const outcome = await use.store.spend.reserve(id, asking(15, [], { limit: 20, action: 'alert' }));
      expect(outcome).toEqual({ kind: 'reserved' });
    }

    expect(await use.store.spend.alerts(10)).toMatchObject([
      { account: 'run:r1', percent: 100, limit: 20, reserved: 30 },
    ]);
  });
});

describe('money', () => {
  it('is consistent for any order of events', async () => {
    let round = 0;
    const step = fc.record({
      job: fc.nat(4),
      what: fc.constantFrom('reserve', 'send', 'succeed', 'cancel', 'fail'),
      micros: fc.nat(40),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const name = `tenant:model-${round++}`;
        const ids = Array.from({ length: 5 }, (_, i) => `${name}-${i}`);
        await run(name);
        for (const id of ids) await use.accept(id, { fields: { run: name } });
        const model = new Map<string, { held: number; sent: boolean; ended: boolean; cost: number }>();
        for (const id of ids) model.set(id, { held: -1, sent: false, ended: false, cost: 0 });
        const total = () => [...model.values()].reduce((sum, { held, cost }) => sum + Math.max(0, held) + cost, 0);

        for (const { job, what, micros } of steps) {
          const id = ids[job] ?? '';
          const known = model.get(id);
          if (!known) throw new Error('no such job');
          if (what === 'reserve') {
            const fits = total() < 100 && total() + micros <= 100;
            const isNew = !known.ended && known.held < 0;
            const outcome = await use.store.spend.reserve(id, asking(micros, [account({ account: name })]));
            expect(outcome.kind).toBe(known.ended ? 'refused' : isNew && !fits ? 'over' : 'reserved');
            if (isNew && fits) known.held = micros;
          } else if (what === 'send') {
            if (!known.ended) await sent(id);
            known.sent ||= !known.ended;
          } else {
            const cost = what === 'succeed' ? micros : undefined;
            // Jobs that are not with a worker cannot fail.
            const moved = (await end(id, what as JobEvent, cost)).kind === 'moved';
            if (!moved) continue;
            const hadBudget = known.held >= 0;
            const actual = cost ?? (known.sent ? Math.max(0, known.held) : 0);
            Object.assign(known, { held: -1, ended: true, cost: hadBudget ? actual : 0 });
            if (!hadBudget && cost) outside += cost;
          }
        }
        const [found] = await use.store.spend.read([account({ account: name })]);
        const live = [...model.values()].reduce((sum, { held }) => sum + Math.max(0, held), 0);
        const spent = [...model.values()].reduce((sum, { cost }) => sum + cost, 0);
        expect(found).toMatchObject({ reserved: live, spent });
        expect(await runMoney(name)).toEqual([live, spent + outside]);
        outside = 0;
      }),
      { numRuns: 60 },
    );
  });
  /** What jobs without a reservation cost: their run counts it, no budget does. */
  let outside = 0;
});
