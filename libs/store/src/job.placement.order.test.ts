import { isInFlight } from '@svc/lifecycle';
import { plainRequest } from '@svc/testing';
import fc from 'fast-check';
import { buildKeys, type Placement, type Reservation } from './index';
import { useStore } from './store.testing';

const shard = 's1';
const keys = buildKeys(shard);
const use = useStore({ shard });
const lanes = ['job.a', 'job.b', 'job.gpu'] as const;
/** Lanes that each worker serves: both serve `job.a`. */
const served = { w1: ['job.a', 'job.b'], w2: ['job.a', 'job.gpu'] } as const;
type WorkerId = keyof typeof served;
const slots = 2;
const tenantCaps = { acme: 0, globex: 2, initech: 1 } as const;
type Tenant = keyof typeof tenantCaps;
/** Budget of each tenant, micros. */
const budget = 5;

type Lane = (typeof lanes)[number];
interface Submission {
  tenant: Tenant;
  lane: Lane;
  level: number;
  worker: WorkerId;
  licenseCap: number;
  /** Added to the limit of its tenant by the policy of this job. */
  extra: number;
  /** 0: without a budget. */
  cost: number;
}
type Step =
  | ({ kind: 'submit' } & Submission)
  | { kind: 'enqueue'; tenant: Tenant; lane: Lane }
  | { kind: 'decide'; level: number }
  | { kind: 'claim'; worker: WorkerId; snapshot: string }
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
      extra: fc.constantFrom(0, 1),
      cost: fc.constantFrom(0, 0, 1, 3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('enqueue'), tenant, lane }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('decide'), level }) },
  {
    weight: 2,
    // A claim under another policy sends older jobs back to be decided.
    arbitrary: fc.record({ kind: kind('claim'), worker: workerId, snapshot: fc.constantFrom('s1', 's1', 's2') }),
  },
  { weight: 3, arbitrary: fc.record({ kind: kind('end'), nth: fc.nat(8) }) },
);

interface Known {
  id: string;
  tenant: Tenant;
  lane: Lane;
  cost: number;
  /** Limit of its tenant, 0 = none, and level, as they were when it was placed. */
  cap: number;
  level: number;
}

const account = (of: Tenant) => ({ account: `tenant:${of}`, period: '2026-11-22' });
const reservation = (of: Tenant, micros: number): Reservation => ({
  micros,
  accounts: [{ ...account(of), limit: budget, action: 'throttle', alerts: [], ttlSec: 600 }],
  run: { limit: 0, action: 'throttle' },
});

/** The store under a sequence of steps, and the jobs that were submitted. */
class Walk {
  readonly jobs: Known[] = [];
  constructor(private readonly prefix: string) {}

  async take(one: Step): Promise<void> {
    switch (one.kind) {
      case 'submit':
        return this.submit(one);
      case 'enqueue': {
        await this.accept(this.next({ ...one, cost: 0, cap: 0, level: 0 }), undefined);
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
          snapshot: one.snapshot,
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

  private async submit(one: Submission): Promise<void> {
    const isServed = served[one.worker].some((id) => id === one.lane);
    const cap = tenantCaps[one.tenant] && tenantCaps[one.tenant] + one.extra;
    const undecided = await this.undecided();
    const older = [...undecided, ...(await this.waitingFor(one))].map(({ id }) => id);
    const job = this.next({ ...one, cap });
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
      tenantCap: cap,
      licenseCap: one.licenseCap,
      waitMs: 60_000,
      ...(one.cost > 0 && { budget: reservation(one.tenant, one.cost) }),
    });
    // An undecided job may want the same money.
    if (one.cost > 0 && outcome !== 'queued') expect(undecided).toEqual([]);
    if (outcome !== 'dispatched') return;
    expect(older).toEqual([]);
    expect(await use.redis.scard(keys.workerInFlight(one.worker))).toBeLessThanOrEqual(slots);
    const running = (await this.records()).filter(
      ({ tenant: of, record }) => of === one.tenant && record && isInFlight(record.state),
    );
    if (cap > 0) expect(running.length).toBeLessThanOrEqual(cap);
  }

  /** Undecided jobs that are ready, in the order of their queue. */
  private async undecided(): Promise<Known[]> {
    const entries = await use.redis.zrange(keys.queue('jobs', 'prioritized'), 0, '-1');
    return entries.flatMap((entry) => this.jobs.find(({ id }) => entry.startsWith(`job-${id}-`)) ?? []);
  }

  /**
   * Waiting jobs that a new one for this worker would overtake: those of its tenant in the same lane and level, and all others
   * that the worker serves, unless the first of their tenant in their lane and level is at its limit.
   */
  private async waitingFor({ worker, tenant: newOf, lane: newLane, level: newLevel }: Submission): Promise<Known[]> {
    const records = await this.records();
    const inFlight = (of: Tenant) =>
      records.filter(({ tenant: one, record }) => one === of && record && isInFlight(record.state)).length;
    const waiting = records.filter(
      ({ lane: own, record }) => record?.parked === 'jobWaiting' && served[worker].some((id) => id === own),
    );
    const isSameTurn = (a: Known, b: Known) => a.tenant === b.tenant && a.lane === b.lane && a.level === b.level;
    // Records are in the order of submission.
    const isBlocked = (job: Known) => {
      const { cap = 0 } = waiting.find((one) => isSameTurn(one, job)) ?? {};
      return cap > 0 && inFlight(job.tenant) >= cap;
    };
    const isOwn = (job: Known) => job.tenant === newOf && job.lane === newLane && job.level === newLevel;
    return waiting.filter((job) => isOwn(job) || !isBlocked(job));
  }

  /** The scheduler decides about the first undecided job and adds it to its lane. Without a budget left it waits elsewhere. */
  private async decide(at: number): Promise<void> {
    const [job] = await this.undecided();
    if (!job) return;
    const queue = (part: string) => keys.queue('jobs', part);
    const [entry = ''] = await use.redis.zrange(queue('prioritized'), 0, '0');
    await use.redis.multi().zrem(queue('prioritized'), entry).del(queue(entry)).exec();
    if (job.cost > 0) {
      const { kind: reserved } = await use.store.spend.reserve(job.id, reservation(job.tenant, job.cost));
      if (reserved === 'over') return;
    }
    Object.assign(job, { cap: tenantCaps[job.tenant], level: at });
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

  private next({ tenant: of, lane: own, cost, cap, level: at }: Omit<Known, 'id'>): Known {
    const job = { id: `${this.prefix}-${this.jobs.length}`, tenant: of, lane: own, cost, cap, level: at };
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

  /** Every reserved amount belongs to a job that has not ended, and the limit holds. */
  async checkMoney(): Promise<void> {
    const held = new Map<Tenant, number>();
    for (const { tenant: of, record } of await this.records()) {
      const { micros = 0 } = JSON.parse(record?.reserved ?? '{}') as { micros?: number };
      held.set(of, (held.get(of) ?? 0) + micros);
    }
    for (const [of, micros] of held) {
      const [spending] = await use.store.spend.read([account(of)]);
      expect(spending?.reserved).toBe(micros);
      expect(micros + (spending?.spent ?? 0)).toBeLessThanOrEqual(budget);
    }
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
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 40, size: 'max' }), async (steps) => {
        await use.redis.flushdb();
        await use.redis.set(keys.policyInEffect(), 's1');
        const walk = new Walk(`j${n++}`);
        for (const one of steps) await walk.take(one);
        await walk.checkMoney();
        for (const { id } of walk.jobs) {
          const [, second] = await use.store.jobs.events(id);
          const record = await use.store.jobs.load(id);
          if (record?.decided === 'submission' && second?.event === 'dispatch') dispatched += 1;
        }
      }),
      { numRuns: 80 },
    );
    // Guards against a property that holds because nothing is dispatched.
    expect(dispatched).toBeGreaterThan(20);
  }, 60_000);
});
