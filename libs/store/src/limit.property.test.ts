import { isInFlight, isTerminal } from '@svc/lifecycle';
import fc from 'fast-check';
import { buildKeys, type JobLimits, type JobRecord } from './index';
import { limitedJobs } from './limit.testing';
import { useStore } from './store.testing';

const shard = 's1';
const keys = buildKeys(shard);
const use = useStore({ shard });

/** Limit of each concurrency key: of all its jobs, or the largest one where they differ. */
const places = { one: 1, two: 2, mixed: 3 } as const;
type Key = keyof typeof places;
const tenants = ['acme', 'globex'] as const;
const starts = 3;
/** Longer than the test: no start leaves the window. */
const periodMs = 3_600_000;

type Step =
  | {
      kind: 'submit';
      tenant: (typeof tenants)[number];
      key: Key;
      isQueued: boolean;
      isRated: boolean;
      strategy: Strategy;
    }
  | { kind: 'decide' }
  | { kind: 'claim'; slots: number }
  | { kind: 'end' | 'cancel' | 'retry' | 'requeue'; nth: number }
  /** The records of a job and its permissions diverge, as after the loss of a record. */
  | { kind: 'lose'; nth: number };
type Strategy = 'queue' | 'queue' | 'cancel_newest' | 'cancel_oldest';

const nth = fc.nat(12);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('submit' as const),
      tenant: fc.constantFrom(...tenants),
      key: fc.constantFrom<Key>('one', 'two', 'mixed'),
      isQueued: fc.boolean(),
      isRated: fc.boolean(),
      strategy: fc.constantFrom<Strategy>('queue', 'queue', 'cancel_newest', 'cancel_oldest'),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'decide' as const }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('claim' as const), slots: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom('end' as const, 'end' as const, 'cancel', 'retry', 'requeue'), nth }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose' as const), nth }) },
);

class Walk {
  private readonly ids: string[] = [];
  readonly started: string[] = [];
  private readonly jobs = limitedJobs(use);

  constructor(private readonly run: string) {}

  private limitOf(key: Key): number {
    return key === 'mixed' ? 1 + (this.ids.length % places.mixed) : places[key];
  }

  private async records(): Promise<JobRecord[]> {
    const found = await Promise.all(this.ids.map((id) => use.store.jobs.load(id)));
    return found.filter((job) => job !== undefined);
  }

  private async pick(at: number, wanted: (job: JobRecord) => boolean): Promise<JobRecord | undefined> {
    const found = (await this.records()).filter(wanted);
    return found[at % Math.max(1, found.length)];
  }

  async take(one: Step): Promise<void> {
    switch (one.kind) {
      case 'submit': {
        const id = `${this.run}-${this.ids.length}`;
        this.ids.push(id);
        const limits: JobLimits = {
          concurrency: { key: one.key, limit: this.limitOf(one.key), strategy: one.strategy },
          ...(one.isRated && { rate: { key: 'r', limit: starts, per_ms: periodMs } }),
        };
        if (one.isQueued && one.tenant === 'acme') await this.jobs.enqueue(id, limits);
        else await this.jobs.submit(id, limits, { tenant: one.tenant });
        return;
      }
      case 'decide': {
        const job = await this.pick(0, isUndecided);
        if (job) await this.jobs.admit(job.id);
        return;
      }
      case 'claim':
        this.started.push(...(await this.jobs.claim(one.slots)));
        return;
      case 'end':
      case 'retry': {
        const job = await this.pick(one.nth, ({ state }) => isInFlight(state));
        const again = { queueEntries: [{ queue: 'jobs' as const, suffix: `retry-${one.nth}` }] };
        if (job)
          await use.store.jobs.move(
            '*',
            job.id,
            one.kind === 'end' ? 'succeed' : 'retry',
            one.kind === 'end' ? {} : again,
          );
        return;
      }
      case 'cancel': {
        const job = await this.pick(one.nth, ({ state }) => !isTerminal(state));
        if (job) await use.store.jobs.move('*', job.id, 'cancel');
        return;
      }
      case 'requeue': {
        const job = await this.pick(one.nth, ({ parked }) => parked === 'jobWaiting');
        if (job) await use.store.jobs.requeue(job, `again-${one.nth}`, 10);
        return;
      }
      case 'lose': {
        const job = await this.pick(one.nth, ({ state }) => isInFlight(state));
        if (!job) return;
        await use.redis.del(keys.job(job.id));
        await use.redis.srem(keys.workerInFlight('w1'), job.id);
        await use.store.limits.repair();
        return;
      }
    }
  }

  /** Of each tenant and key no more jobs run than its limit, and no more have started than the rate allows. */
  async check(): Promise<void> {
    const records = await this.records();
    for (const tenant of tenants) {
      for (const key of Object.keys(places) as Key[]) {
        const running = records.filter(
          (job) => job.tenant === tenant && isInFlight(job.state) && job.limits?.concurrency?.key === key,
        );
        expect(running.length).toBeLessThanOrEqual(places[key]);
        await this.checkFirst(tenant, key, records);
      }
      const attempts = records
        .filter((job) => job.tenant === tenant && job.limits?.rate)
        .reduce((sum, job) => sum + job.attempts, 0);
      expect(attempts).toBeLessThanOrEqual(starts);
    }
    for (const job of records) {
      // A waiting job is in its lane or in the list of one limit, never in both.
      if (job.parked === 'jobWaiting') expect(job.lane !== '').toBe(job.blocked === undefined);
      else expect(job.blocked).toBeUndefined();
    }
  }

  /** The first job that waits for a key would exceed its own limit. */
  private async checkFirst(tenant: string, key: Key, records: readonly JobRecord[]): Promise<void> {
    const [first] = await use.redis.zrange(keys.limitWaiters('concurrency', tenant, key), 0, '0');
    const job = records.find(({ id }) => id === first);
    if (!job) return;
    const held = await use.redis.zcard(keys.limitHolders('concurrency', tenant, key));
    expect(held).toBeGreaterThanOrEqual(job.limits?.concurrency?.limit ?? Infinity);
  }

  /** Ends every job; those that wait for the rate are let through by its period. */
  async finish(): Promise<void> {
    for (let round = 0; round < 400; round++) {
      const open = (await this.records()).filter(({ state }) => !isTerminal(state));
      if (open.length === 0) return;
      for (const job of open.filter(isUndecided)) await this.jobs.admit(job.id);
      this.started.push(...(await this.jobs.claim()));
      for (const job of open.filter(({ state }) => isInFlight(state)))
        await use.store.jobs.move('*', job.id, 'succeed');
      await use.store.limits.open(Date.now() + (round + 2) * 2 * periodMs);
    }
    throw new Error('a job never ends');
  }
}

const isUndecided = ({ state, parked }: JobRecord): boolean => ['PENDING', 'RETRYING'].includes(state) && parked === '';

it('never more jobs of a key run than its limit, and every job ends, whatever is submitted, ended, cancelled, retried or lost', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await use.redis.flushdb();
      const walk = new Walk(`r${++run}`);
      for (const one of steps) {
        await walk.take(one);
        await walk.check();
      }
      await walk.finish();
      await use.store.limits.repair();
      // What is left are starts of the rate, which expire.
      const left = await use.redis.keys('*limit:*');
      expect(left.filter((key) => !key.includes(':rate:') && !key.endsWith(':used'))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

it('jobs of a key start in the order of their submission', async () => {
  const jobs = limitedJobs(use);
  const ids = Array.from({ length: 12 }, (_, i) => `f${String(i).padStart(2, '0')}`);
  for (const id of ids) await jobs.submit(id, { concurrency: { key: 'k', limit: 1, strategy: 'queue' } });
  const order: string[] = [];
  while (order.length < ids.length) {
    const [id = ''] = await jobs.claim();
    order.push(id);
    await use.store.jobs.move('*', id, 'succeed');
  }
  expect(order).toEqual(ids);
});
