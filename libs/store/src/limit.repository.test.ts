import { queues } from '@svc/queues.config';
import { openQueue } from '@svc/queues';
import { buildKeys, type JobLimits, newLimitRepair } from './index';
import { limitedJobs } from './limit.testing';
import { useStore } from './store.testing';

const shard = 's0';
const keys = buildKeys(shard);
const use = useStore({ shard });
const jobs = limitedJobs(use);

const one = (key = 'k', strategy: 'queue' | 'cancel_newest' | 'cancel_oldest' = 'queue'): JobLimits => ({
  concurrency: { key, limit: 1, strategy },
});
const rate = (limit: number, per_ms = 60_000): JobLimits => ({ rate: { key: 'r', limit, per_ms } });
const debounce: JobLimits = { debounce: { key: 'd', period_ms: 10_000, max_ms: 25_000 } };

async function waitingEntries(): Promise<string[]> {
  const queue = openQueue(queues.jobWaiting, use.redis);
  const found = await queue.getJobs();
  await queue.close();
  return found.map(({ id }) => id ?? '').sort();
}

/** No limit is left behind once every job has ended. */
async function expectNoLimits(): Promise<void> {
  expect(await use.redis.keys('*limit:*')).toEqual([]);
}

describe('concurrency by key', () => {
  it('lets one job through, and the next when it ends; each waiting job has one queue entry', async () => {
    for (const id of ['a', 'b', 'c']) await jobs.submit(id, one());

    expect(await jobs.claim()).toEqual(['a']);
    expect(await jobs.position('b')).toEqual({ state: 'PENDING', blocked: 'concurrency', lane: '' });
    expect(await waitingEntries()).toEqual(['job-b', 'job-c']);
    expect(await jobs.claim()).toEqual([]);

    await use.store.jobs.move('*', 'a', 'succeed');
    expect(await jobs.claim()).toEqual(['b']);
    expect(await jobs.claim()).toEqual([]);
    await use.store.jobs.move('*', 'b', 'fail');
    expect(await jobs.claim()).toEqual(['c']);
    await use.store.jobs.move('*', 'c', 'succeed');
    await expectNoLimits();
  });

  it('a tenant never waits for the key of another', async () => {
    await jobs.submit('a', one());
    await jobs.submit('b', one(), { tenant: 'globex' });

    expect((await jobs.claim()).sort()).toEqual(['a', 'b']);
  });

  it('a job keeps its place at the key through a retry', async () => {
    await jobs.submit('a', one());
    await jobs.submit('b', one());
    await jobs.claim();

    await use.store.jobs.move('*', 'a', 'retry', { queueEntries: [{ queue: 'jobs', suffix: 'retry-1' }] });
    expect(await jobs.claim()).toEqual([]);
    await jobs.admit('a');
    expect(await jobs.claim()).toEqual(['a']);
  });

  it('a cancelled waiting job leaves the list, and one that is held for approval frees its place', async () => {
    await jobs.enqueue('a', one());
    await jobs.admit('a');
    for (const id of ['b', 'c']) await jobs.submit(id, one());
    await use.store.jobs.move('*', 'b', 'cancel');
    await use.store.jobs.move('*', 'a', 'hold');

    expect(await jobs.claim()).toEqual(['c']);
    expect(await use.redis.exists(keys.limitWaiters('concurrency', 'acme', 'k'))).toBe(0);
  });

  it('undecided jobs take their place at admission; a requeued job is blocked again', async () => {
    await jobs.submit('a', one());
    await jobs.enqueue('b', one());
    expect(await jobs.admit('b')).toEqual({ kind: 'waiting', reason: 'concurrency_limit' });
    const job = await use.store.jobs.load('b');
    if (!job) throw new Error('no job');
    expect(await use.store.jobs.requeue(job, 'again', 10)).toBe(true);
    expect(await jobs.position('b')).toMatchObject({ blocked: undefined });
    await jobs.admit('b');
    expect(await jobs.position('b')).toMatchObject({ blocked: 'concurrency' });
  });

  it('cancel_newest: the new job ends at once and the running one is not affected', async () => {
    await jobs.submit('a', one('k', 'cancel_newest'));
    const outcome = await jobs.submit('b', one('k', 'cancel_newest'));

    expect(outcome).toMatchObject({ kind: 'accepted', placed: { kind: 'cancelled' }, cancelled: ['b'] });
    expect(await use.store.jobs.load('b')).toMatchObject({ state: 'CANCELLED', error_code: 'concurrency_limit' });
    expect(await jobs.claim()).toEqual(['a']);
    expect(await waitingEntries()).toEqual([]);
  });

  it('cancel_oldest: the running job is cancelled, with a message for its worker, and the new one takes its place', async () => {
    await jobs.submit('a', one('k', 'cancel_oldest'));
    await jobs.claim();
    await jobs.submit('waits', one());
    const outcome = await jobs.submit('b', one('k', 'cancel_oldest'));

    expect(outcome).toMatchObject({ kind: 'accepted', cancelled: ['a'] });
    const cancelled = await use.store.jobs.load('a');
    expect(cancelled).toMatchObject({ state: 'CANCELLED', error_code: 'concurrency_limit' });
    expect(JSON.parse(cancelled?.intent ?? '{}')).toMatchObject({ result: 'CANCELLED' });
    expect(await jobs.claim()).toEqual(['b']);
  });

  it('a job with a higher limit than the one before it runs when that one leaves the list', async () => {
    const two: JobLimits = { concurrency: { key: 'k', limit: 2, strategy: 'queue' } };
    await jobs.submit('a', one());
    for (const id of ['b', 'c']) await jobs.submit(id, one());
    for (const id of ['d', 'e']) await jobs.submit(id, two);
    expect(await jobs.claim()).toEqual(['a']);

    await use.store.jobs.move('*', 'c', 'cancel');
    expect(await jobs.claim()).toEqual([]);
    await use.store.jobs.move('*', 'b', 'cancel');
    expect(await jobs.claim()).toEqual(['d']);
    expect(await jobs.position('e')).toMatchObject({ blocked: 'concurrency' });
  });

  it('a job that is decided again keeps its turn before those behind it', async () => {
    const two: JobLimits = { concurrency: { key: 'k', limit: 2, strategy: 'queue' } };
    await jobs.submit('a', one());
    await jobs.submit('b', one());
    await jobs.submit('c', two);

    expect(await jobs.admit('b')).toEqual({ kind: 'waiting', reason: 'concurrency_limit' });
    expect(await jobs.claim()).toEqual(['a']);
    const job = await use.store.jobs.load('b');
    if (!job) throw new Error('no job');
    await use.store.jobs.requeue(job, 'again', 10);
    expect(await jobs.claim()).toEqual(['c']);
  });

  it('a place of a job that has expired is freed by the repair', async () => {
    await jobs.submit('a', one());
    await jobs.submit('b', one());
    await use.redis.del(keys.job('a'));

    expect(await use.store.limits.repair()).toBe(1);
    expect(await jobs.position('b')).toMatchObject({ blocked: undefined, lane: 'job.default' });
    expect(await use.store.limits.repair()).toBe(0);
  });

  it('a repair checks every place of a key, and passes of bounded cost check every key', async () => {
    const many: JobLimits = { concurrency: { key: 'k', limit: 10_000, strategy: 'queue' } };
    const ids = Array.from({ length: 1_300 }, (_, i) => `a${i}`);
    await Promise.all(ids.map((id) => jobs.submit(id, many)));
    const lost = ids.filter((_, i) => i % 3 === 0 || i > 1_200);
    await use.redis.del(...lost.map((id) => keys.job(id)));

    expect(await use.store.limits.repair()).toBe(lost.length);
    expect(await use.redis.zcard(keys.limitHolders('concurrency', 'acme', 'k'))).toBe(ids.length - lost.length);

    const refs = Array.from({ length: 4_000 }, (_, i) => JSON.stringify(['concurrency', 'acme', `other-${i}`]));
    await use.redis.sadd(keys.limitsUsed(), ...refs);
    const position = newLimitRepair();
    let passes = 0;
    do {
      await use.store.limits.repair(position);
      passes++;
    } while (position.cursor !== '0' || position.pages.length > 0);
    expect(passes).toBeGreaterThan(1);
    // Keys without places are forgotten.
    expect(await use.redis.scard(keys.limitsUsed())).toBe(1);
  });
});

describe('starts per period', () => {
  it('counts starts, also those that have not happened yet; the next one follows after the period', async () => {
    for (const id of ['a', 'b', 'c']) await jobs.submit(id, rate(2));

    expect(await jobs.claim()).toEqual(['a', 'b']);
    await use.store.jobs.move('*', 'a', 'succeed');
    expect(await jobs.position('c')).toMatchObject({ blocked: 'rate' });
    const next = (await use.store.limits.open()) ?? 0;
    expect(await jobs.claim()).toEqual([]);

    await use.store.limits.open(next);
    expect(await jobs.claim()).toEqual(['c']);
  });

  it('a period that frees many starts lets all of them through, in several calls', async () => {
    const count = 150;
    const ids = (prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
    for (const id of [...ids('a'), ...ids('b')]) await jobs.submit(id, rate(count));
    expect(await jobs.claim(count)).toHaveLength(count);

    const over = Date.now() + 120_000;
    let calls = 0;
    while (((await use.store.limits.open(over)) ?? Infinity) <= over) calls++;
    expect(calls).toBe(2);
    expect(await jobs.claim(2 * count)).toHaveLength(count);
  });

  it('starts expire with their period, permissions without a start do not', async () => {
    const holders = keys.limitHolders('rate', 'acme', 'r');
    await jobs.submit('a', rate(2));
    await jobs.submit('b', rate(2));
    expect(await use.redis.pttl(holders)).toBe(-1);
    await jobs.claim(1);
    expect(await use.redis.pttl(holders)).toBe(-1);
    await jobs.claim();
    expect(await use.redis.pttl(holders)).toBeGreaterThan(0);
  });

  it('a job that ends before its start leaves its permission to the next; a retry needs another one', async () => {
    await jobs.submit('a', rate(1));
    await jobs.submit('b', rate(1));
    await use.store.jobs.move('*', 'a', 'cancel');
    expect(await jobs.claim()).toEqual(['b']);

    await use.store.jobs.move('*', 'b', 'retry', { queueEntries: [{ queue: 'jobs', suffix: 'retry-1' }] });
    expect(await jobs.admit('b')).toMatchObject({ kind: 'waiting', reason: 'rate_limit' });
  });
});

describe('debounce', () => {
  it('replaces the waiting job, and starts the newest after a period without another, at most after the maximum', async () => {
    await jobs.submit('a', debounce);
    const first = await use.store.limits.open();
    const outcome = await jobs.submit('b', debounce);

    expect(outcome).toMatchObject({ placed: { kind: 'waiting', reason: 'debounce' }, cancelled: ['a'] });
    expect(await use.store.jobs.load('a')).toMatchObject({ state: 'CANCELLED', error_code: 'debounced' });
    const due = (await use.store.limits.open()) ?? 0;
    expect(due).toBeGreaterThanOrEqual(first ?? Infinity);
    expect(due).toBeLessThanOrEqual((first ?? 0) + 15_000);
    expect(await jobs.claim()).toEqual([]);

    await use.store.limits.open(due);
    expect(await jobs.claim()).toEqual(['b']);
    await jobs.submit('c', debounce);
    expect(await jobs.position('b')).toMatchObject({ state: 'DISPATCHED' });
    await use.store.jobs.move('*', 'b', 'succeed');
    await use.store.jobs.move('*', 'c', 'cancel');
    await expectNoLimits();
  });

  it('the job then still has to pass its other limits', async () => {
    await jobs.submit('a', one());
    await jobs.submit('b', { ...debounce, ...one() });
    await use.store.limits.open((await use.store.limits.open()) ?? 0);
    expect(await jobs.position('b')).toMatchObject({ blocked: 'concurrency' });
    await use.store.jobs.move('*', 'a', 'cancel');
    expect(await jobs.claim()).toEqual(['b']);
  });
});

describe('the usage of a limit', () => {
  const usage = async (id: string) => {
    const job = await use.store.jobs.load(id);
    return job && use.store.limits.usage(job, Date.now());
  };

  it('names the jobs that hold it, the jobs before, and when it changes by itself', async () => {
    for (const id of ['a', 'b', 'c']) await jobs.submit(id, { ...one(), ...rate(1) });
    await jobs.submit('d', debounce);

    expect(await usage('a')).toBeUndefined();
    expect(await usage('c')).toEqual({ by: 'concurrency', holders: ['a'], held: 1, ahead: 1 });
    expect(await usage('d')).toMatchObject({ by: 'debounce', dueMs: await use.store.limits.open() });

    await jobs.claim();
    await use.store.jobs.move('*', 'a', 'succeed');
    expect(await usage('b')).toMatchObject({ by: 'rate', holders: ['a'], held: 1, ahead: 0 });
    expect((await usage('b'))?.dueMs).toBeGreaterThan(Date.now());
  });
});

describe('singleton', () => {
  const singleton: JobLimits = { singleton: { key: 's', mode: 'reject' } };

  it('of concurrent submissions one is accepted, the others name it; after its end the next is', async () => {
    const ids = Array.from({ length: 8 }, (_, i) => `j${i}`);
    const outcomes = await Promise.all(ids.map((id) => jobs.submit(id, singleton)));

    const accepted = ids.filter((_, i) => outcomes[i]?.kind === 'accepted');
    expect(accepted).toHaveLength(1);
    const [first = ''] = accepted;
    const others = outcomes.filter(({ kind }) => kind !== 'accepted');
    expect(others).toEqual(others.map(() => ({ kind: 'singleton', jobId: first, traceId: first })));

    await use.store.jobs.move('*', first, 'cancel');
    await expectNoLimits();
    expect(await jobs.submit('later', singleton)).toMatchObject({ kind: 'accepted' });
  });

  it('belongs to its tenant', async () => {
    await jobs.submit('a', singleton);
    expect(await jobs.submit('b', singleton, { tenant: 'globex' })).toMatchObject({ kind: 'accepted' });
  });
});
