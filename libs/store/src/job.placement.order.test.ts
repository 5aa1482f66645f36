import { isInFlight } from '@svc/lifecycle';
import { plainRequest } from '@svc/testing';
import fc from 'fast-check';
import { keys, type Placement } from './index';
import { useStore } from './store.testing';

const use = useStore();
const lanes = ['job.a', 'job.b', 'job.gpu'] as const;
/** Lanes that each worker serves: both serve `job.a`. */
const served = { w1: ['job.a', 'job.b'], w2: ['job.a', 'job.gpu'] } as const;
type WorkerId = keyof typeof served;
const slots = 2;
const tenantCaps = { acme: 0, globex: 2, initech: 1 } as const;
type Tenant = keyof typeof tenantCaps;

type Lane = (typeof lanes)[number];
type Step =
  | { kind: 'submit'; tenant: Tenant; lane: Lane; level: number; worker: WorkerId; licenseCap: number }
  | { kind: 'enqueue'; tenant: Tenant; lane: Lane }
  | { kind: 'decide'; level: number }
  | { kind: 'claim'; worker: WorkerId }
  | { kind: 'end'; nth: number };

const tenant = fc.constantFrom(...(Object.keys(tenantCaps) as Tenant[]));
const lane = fc.constantFrom(...lanes);
const level = fc.constantFrom(1, 2, 3);
const workerId = fc.constantFrom<WorkerId>('w1', 'w2');
const kind = <K extends Step['kind']>(name: K) => fc.constant(name);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: kind('submit'),
      tenant,
      lane,
      level,
      worker: workerId,
      licenseCap: fc.constantFrom(0, 3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('enqueue'), tenant, lane }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('decide'), level }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('claim'), worker: workerId }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('end'), nth: fc.nat(8) }) },
);

interface Known {
  id: string;
  tenant: Tenant;
  lane: Lane;
}

/** The store under a sequence of steps, and the jobs that were submitted. */
class Walk {
  readonly jobs: Known[] = [];
  readonly undecided: Known[] = [];
  constructor(private readonly prefix: string) {}

  async take(one: Step): Promise<void> {
    switch (one.kind) {
      case 'submit':
        return this.submit(one);
      case 'enqueue': {
        const job = this.next(one.tenant, one.lane);
        await this.accept(job, undefined);
        this.undecided.push(job);
        return;
      }
      case 'decide':
        return this.decide(one.level);
      case 'claim':
        await use.store.jobs.claim({
          worker: { id: one.worker, pool: 'p', max: slots },
          lanes: served[one.worker],
          dispatchIds: [`${this.prefix}-c${this.jobs.length}`, `${this.prefix}-d${this.jobs.length}`],
          licenseCap: 0,
          snapshot: 's1',
        });
        return;
      case 'end': {
        const running = (await this.records()).filter(({ record }) => record && isInFlight(record.state));
        const job = running[one.nth % Math.max(1, running.length)];
        if (job) await use.store.jobs.move('*', job.id, 'succeed');
        return;
      }
    }
  }

  private async submit(one: Extract<Step, { kind: 'submit' }>): Promise<void> {
    const isServed = served[one.worker].some((id) => id === one.lane);
    const older = await this.olderThanNew(one.worker);
    const job = this.next(one.tenant, one.lane);
    const outcome = await this.accept(job, {
      snapshot: 's1',
      lane: { id: one.lane, spec: '{}', level: one.level },
      ...(isServed && { worker: { id: one.worker, pool: 'p', max: slots } }),
      otherLanes: lanes.filter((id) => !served[one.worker].some((own) => own === id)),
      mayWait: true,
      dispatchId: `${job.id}-d`,
      reason: 'no_workers',
      runMs: 60_000,
      deadlineMs: 0,
      tenantCap: tenantCaps[one.tenant],
      licenseCap: one.licenseCap,
      waitMs: 60_000,
    });
    if (outcome !== 'dispatched') return;
    expect(older).toEqual([]);
    expect(await use.redis.scard(keys.workerInFlight(one.worker))).toBeLessThanOrEqual(slots);
    const cap = tenantCaps[one.tenant];
    const running = (await this.records()).filter(
      ({ tenant: of, record }) => of === one.tenant && record && isInFlight(record.state),
    );
    if (cap > 0) expect(running.length).toBeLessThanOrEqual(cap);
  }

  /** Jobs that a new one for this worker would overtake: undecided ones, and waiting ones whose tenant is below its limit. */
  private async olderThanNew(worker: WorkerId): Promise<string[]> {
    const records = await this.records();
    const inFlight = (of: Tenant) =>
      records.filter(({ tenant: one, record }) => one === of && record && isInFlight(record.state)).length;
    const isBlocked = (of: Tenant) => tenantCaps[of] > 0 && inFlight(of) >= tenantCaps[of];
    const waiting = records.filter(
      ({ lane: own, tenant: of, record }) =>
        record?.parked === 'jobWaiting' && served[worker].some((id) => id === own) && !isBlocked(of),
    );
    return [...waiting, ...this.undecided].map(({ id }) => id);
  }

  /** The scheduler decides about the oldest undecided job and adds it to its lane. */
  private async decide(at: number): Promise<void> {
    const job = this.undecided.shift();
    if (!job) return;
    const queue = (part: string) => keys.queue('jobs', part);
    const entry = `job-${job.id}-submit`;
    await use.redis.multi().zrem(queue('prioritized'), entry).del(queue(entry)).exec();
    await use.store.jobs.admit(job.id, {
      lane: { id: job.lane, spec: '{}', level: at },
      dispatchId: 'unused',
      reason: 'no_workers',
      runMs: 60_000,
      deadlineMs: 0,
      tenantCap: tenantCaps[job.tenant],
      licenseCap: 0,
      waitMs: 60_000,
      set: { safety_snapshot: 's1' },
    });
  }

  private next(of: Tenant, own: Lane): Known {
    const job = { id: `${this.prefix}-${this.jobs.length}`, tenant: of, lane: own };
    this.jobs.push(job);
    return job;
  }

  private async accept(job: Known, place: Placement | undefined): Promise<string> {
    const outcome = await use.store.jobs.accept({
      id: job.id,
      tenant: job.tenant,
      traceId: job.id,
      topic: job.lane,
      fields: { request: plainRequest, submitter: 'ann', job_hash: 'h', deadline_ms: 0, safety_snapshot: 's1' },
      context: '',
      priority: 10,
      activeLimit: 0,
      ...(place && { place }),
    });
    return outcome.kind === 'accepted' ? outcome.placed.kind : outcome.kind;
  }

  private records() {
    return Promise.all(this.jobs.map(async (job) => ({ ...job, record: await use.store.jobs.load(job.id) })));
  }
}

describe('jobs dispatched at submission', () => {
  it('overtake no older job that the same worker could run, and keep every limit, for any mix of jobs', async () => {
    let dispatched = 0;
    let n = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        await use.redis.flushdb();
        await use.redis.set(keys.policyInEffect(), 's1');
        const walk = new Walk(`j${n++}`);
        for (const one of steps) await walk.take(one);
        for (const { id } of walk.jobs) {
          const [, second] = await use.store.jobs.events(id);
          const record = await use.store.jobs.load(id);
          if (record?.decided === 'submission' && second?.event === 'dispatch') dispatched += 1;
        }
      }),
      { numRuns: 60 },
    );
    // Guards against a property that holds because nothing is dispatched.
    expect(dispatched).toBeGreaterThan(20);
  }, 60_000);
});
