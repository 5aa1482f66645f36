import type { Admission, ClaimRequest, DispatchedJob, EndClaim } from './index';
import { keys } from './keys';
import { useStore } from './store.testing';

const use = useStore();
const worker = { id: 'w1', pool: 'p', max: 2 };
const admission = (over: Partial<Admission>): Admission => ({
  lane: { id: 'job.default', spec: '{}', level: 2 },
  dispatchId: 'd',
  reason: 'no_workers',
  runMs: 60_000,
  deadlineMs: 0,
  tenantCap: 0,
  licenseCap: 0,
  waitMs: 60_000,
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
  const claim: EndClaim = {
    build: (ends): ClaimRequest => {
      built.push(ends);
      const dispatchIds = Array.from({ length: ends }, (_, i) => `c${i}`);
      return { worker, lanes: ['job.default'], dispatchIds, licenseCap: 0, snapshot: '' };
    },
    settle: (jobs) => void claimed.push(jobs),
  };
  return { claim, built, claimed, ids: () => claimed.flat().map(({ id }) => id) };
};
const end = (id: string, claim: EndClaim) => use.store.jobs.move('*', id, 'succeed', { claim });
const state = async (id: string) => (await use.store.jobs.load(id))?.state;

describe('ends with a claim', () => {
  it('are one call of Redis, with one claim for all freed slots', async () => {
    await open(['a', 'b', 'c', 'd', 'e']);
    const { claim, built, claimed, ids } = endClaim();
    const calls = jest.spyOn(use.redis, 'fcall');

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
    const { claim, ids } = endClaim();

    const ends = await Promise.allSettled(['a', 'b'].map((id) => end(id, claim)));

    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(ids()).toEqual(['c']);
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
