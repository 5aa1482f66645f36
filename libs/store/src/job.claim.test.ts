import { Redis } from 'ioredis';
import { JobEndings, type Admission, type ClaimRequest, type DispatchedJob, type EndClaim } from './index';
import { buildKeys } from './keys';
import { useStore, waitingPlan } from './store.testing';

const shard = 's1';
const keys = buildKeys(shard);
const use = useStore({ shard });
const worker = { id: 'w1', pool: 'p', max: 2 };
const admission = (over: Partial<Admission>): Admission => ({
  ...waitingPlan,
  set: {},
  ...over,
});
/** Accepts jobs; the first two are dispatched to the worker, the others wait. */
const open = async (ids: readonly string[], tenant = 'acme') => {
  for (const id of ids) {
    await use.accept(id, { tenant });
    await use.store.jobs.admit(id, admission({ worker }));
  }
};
/** A claim that records the calls that it is part of. */
const endClaim = () => {
  const built: number[] = [];
  const claimed: DispatchedJob[][] = [];
  const full: boolean[] = [];
  const claim: EndClaim = {
    build: (ends): ClaimRequest => {
      built.push(ends);
      const dispatchIds = Array.from({ length: ends }, (_, i) => `c${i}`);
      return { worker, lanes: ['job.default'], dispatchIds, licenseCap: 0, snapshot: '' };
    },
    settle: ({ jobs, isFull }) => {
      claimed.push(jobs);
      full.push(isFull);
    },
  };
  return { claim, built, claimed, full, ids: () => claimed.flat().map(({ id }) => id) };
};
const end = (id: string, claim: EndClaim) => use.store.jobs.move('*', id, 'succeed', { claim });
const state = async (id: string) => (await use.store.jobs.load(id))?.state;

describe('a claim of many jobs', () => {
  const claimAll = async (count: number) => {
    const dispatchIds = Array.from({ length: count }, (_, i) => `c${i}`);
    const request = { worker: { ...worker, max: 0 }, lanes: ['job.default'], dispatchIds, licenseCap: 0, snapshot: '' };
    return (await use.store.jobs.claim(request)).jobs.map(({ id }) => id);
  };

  it('takes tenants by turns and the jobs of each in their order', async () => {
    const counts = { a: 19, b: 9, c: 1, d: 8 };
    for (const [tenant, count] of Object.entries(counts)) {
      for (let i = 10; i < 10 + count; i++) {
        await use.accept(`${tenant}-${i}`, { tenant });
        await use.store.jobs.admit(`${tenant}-${i}`, admission({}));
      }
    }

    const order = await claimAll(64);

    expect(order).toHaveLength(37);
    for (const tenant of Object.keys(counts)) {
      const own = order.filter((id) => id.startsWith(tenant));
      expect(own).toEqual([...own].sort());
    }
    const turns = order.map((id) => id.slice(0, 1)).join('');
    // All four in the first round, three until the eighth, two in the ninth.
    expect(turns).toBe('abcd' + 'abd'.repeat(7) + 'ab' + 'a'.repeat(10));
    expect(await use.store.workers.lanes()).toEqual({});
    expect(await use.store.workers.recentJobs('w1', 3)).toEqual(order.slice(-3).reverse());
  });

  it('skips jobs that cannot be dispatched any more', async () => {
    for (const id of ['a', 'b', 'c']) {
      await use.accept(id);
      await use.store.jobs.admit(id, admission({}));
    }
    await use.redis.hset(keys.job('b'), 'state', 'CANCELLED');

    expect(await claimAll(9)).toEqual(['a', 'c']);
    expect(await use.store.workers.lanes()).toEqual({});
  });
});

describe('the cost of a job in full batches', () => {
  const jobs = 192;
  const slots = 48;
  const commands = {
    del: 2,
    expire: 2,
    hgetall: 1,
    hmget: 1,
    hset: 3,
    sadd: 1,
    srem: 1,
    zadd: 3,
    zincrby: 1,
    zrange: 1,
    zrem: 5,
  };
  const commandCounts = async () => {
    const stats = String(await use.redis.info('commandstats'));
    return [...stats.matchAll(/cmdstat_([a-z]+):calls=(\d+)/g)].map(
      ([, name = '', calls]) => [name, Number(calls)] as const,
    );
  };

  it('is this list of commands, for its claim and its end', async () => {
    const ids = Array.from({ length: jobs }, (_, i) => `job-${i}`);
    for (const id of ids) {
      await use.accept(id);
      await use.store.jobs.admit(id, admission({}));
    }
    const request = (): ClaimRequest => ({
      worker: { ...worker, max: slots },
      lanes: ['job.default'],
      dispatchIds: ids.slice(0, slots),
      licenseCap: 0,
      snapshot: '',
    });
    await use.redis.config('RESETSTAT');

    let running = (await use.store.jobs.claim(request())).jobs.map(({ id }) => id);
    for (let ended = 0; ended < jobs; ended += slots) {
      const next: string[] = [];
      const claim: EndClaim = { build: request, settle: ({ jobs }) => void next.push(...jobs.map(({ id }) => id)) };
      await Promise.all(running.map((id) => end(id, claim)));
      running = next;
    }

    // Rounding omits the commands of a batch.
    const perJob = (await commandCounts()).map(([name, count]) => [name, Math.round(count / jobs)] as const);
    expect(Object.fromEntries(perJob.filter(([, count]) => count > 0))).toEqual(commands);
  });
});

describe('ends with a claim', () => {
  it('are one call of Redis, with one claim for all freed slots', async () => {
    await open(['a', 'b', 'c', 'd', 'e']);
    const { claim, built, claimed, ids } = endClaim();
    const calls = jest.spyOn(use.store.redis, 'fcall');

    const ends = await Promise.all(['a', 'b'].map((id) => end(id, claim)));

    expect(calls).toHaveBeenCalledTimes(1);
    expect(ends.map(({ kind }) => kind)).toEqual(['moved', 'moved']);
    expect(built).toEqual([2]);
    expect(ids()).toEqual(['c', 'd']);
    expect(claimed[0]?.[0]).toEqual(await use.store.jobs.load('c'));
    expect(await use.store.workers.inFlight('w1')).toHaveLength(2);
    calls.mockRestore();
  });

  it('succeed or fail on their own, and a failed one frees no slot', async () => {
    await open(['a', 'b', 'c', 'd']);
    await use.redis.set(keys.job('a'), 'not a record');
    const { claim, ids, full } = endClaim();

    const ends = await Promise.allSettled(['a', 'b'].map((id) => end(id, claim)));

    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(ids()).toEqual(['c']);
    expect(full).toEqual([true]);
    expect([await state('b'), await state('c'), await state('d')]).toEqual(['SUCCEEDED', 'DISPATCHED', 'PENDING']);
  });

  it('claim nothing for a refused end', async () => {
    await open(['a', 'b', 'c']);
    const { claim, ids } = endClaim();

    const refused = use.store.jobs.move('*', 'a', 'succeed', { claim, dispatchId: 'another' });

    expect(await refused).toEqual({ kind: 'stale' });
    expect(ids()).toEqual([]);
    expect(await state('c')).toBe('PENDING');
  });

  it('are written although the claim fails', async () => {
    await open(['a', 'b', 'c']);
    await use.redis.set(keys.laneTurns('job.default', '1'), 'not a sorted set');
    const { claim, claimed } = endClaim();

    expect(await end('a', claim)).toMatchObject({ kind: 'moved' });
    expect(claimed).toEqual([]);
    expect([await state('a'), await state('c')]).toEqual(['SUCCEEDED', 'PENDING']);
  });

  it('dispatch one job after another of a tenant at its own limit', async () => {
    await open(['a']);
    for (const id of ['b', 'c', 'd']) {
      await use.accept(id);
      await use.store.jobs.admit(id, admission({ tenantCap: 1 }));
    }
    const order: string[][] = [];

    for (let running = ['a']; running.length > 0; running = order.at(-1) ?? []) {
      const { claim, ids } = endClaim();
      await Promise.all(running.map((id) => end(id, { ...claim, build: () => claim.build(2) })));
      order.push(ids());
    }

    expect(order).toEqual([['b'], ['c'], ['d'], []]);
  });

  it('notify the waiters of all jobs that ended in the call', async () => {
    await open(['a', 'b']);
    const endings = new JobEndings(new Redis(use.redisUrl, { autoResubscribe: false }), keys);
    await endings.open();
    const waits = ['a', 'b'].map((id) => endings.wait(id, 60_000).ended);

    await Promise.all(['a', 'b'].map((id) => end(id, endClaim().claim)));

    await Promise.all(waits);
    endings.close();
  });

  it('give many tenants their turns', async () => {
    const tenants = ['t0', 't1', 't2', 't3', 't4', 't5', 't6'];
    await open(['first', 'second'], 'other');
    for (const tenant of tenants)
      await open(
        ['1', '2', '3', '4'].map((n) => `${tenant}-${n}`),
        tenant,
      );
    const dispatched: string[] = [];
    let running = ['first', 'second'];

    while (running.length > 0) {
      const { claim, ids } = endClaim();
      await Promise.all(running.map((id) => end(id, claim)));
      running = ids();
      dispatched.push(...running);
    }

    expect(dispatched).toHaveLength(28);
    for (let round = 0; round < 4; round++) {
      const inTurn = dispatched.slice(round * 7, round * 7 + 7);
      expect(inTurn.map((id) => id.slice(0, 2)).sort()).toEqual(tenants);
      expect(inTurn.every((id) => id.endsWith(`-${round + 1}`))).toBe(true);
    }
  });
});
