import { AppError } from '@svc/contract';
import type { LoadRepository, RedisMemory } from '@svc/store';
import {
  type AdmissionLimits,
  type AdmissionVerdict,
  admit,
  hasMemory,
  type Held,
  jobOverheadBytes,
  type Load,
} from './admit';
import { UncountedWork } from './uncounted-work';

/** Decides whether new work is let in. */
export interface Admission {
  /**
   * Runs the write of a job if there is capacity for it, which stays reserved until the write ends.
   *
   * @param bytes of the job's input
   * @throws backpressure when the tenant has its share, overloaded when there is no room for anybody; and what `store` throws
   */
  job<T>(tenant: string, bytes: number, store: () => Promise<T>): Promise<T>;
  /**
   * The same for other data, such as an artifact: only memory is checked.
   *
   * @throws overloaded
   */
  data<T>(tenant: string, bytes: number, store: () => Promise<T>): Promise<T>;
}

/** Lets everything in: for those whose work was admitted before. */
export const openDoor: Admission = {
  job: (_tenant, _bytes, store) => store(),
  data: (_tenant, _bytes, store) => store(),
};

export interface AdmissionSettings extends AdmissionLimits {
  /** Memory of Redis when it has no limit of its own; 0 = none. */
  memoryLimitBytes: number;
}

/** A picture asks for so many tenants at most; the others keep the numbers they had. */
const mostTenants = 200;
const longestAgoAtOnce = 50;
/** Weight of a new sample in the average job size of a tenant. */
const newLookWeight = 0.25;
const waitForOthersSec = '5';
const waitForSelfSec = '2';

/**
 * Admission by a picture of Redis that is renewed all the time, and by what this process let in since: no submission asks
 * Redis. Several gateways see each other's work with the next picture; the memory kept free is for that too.
 */
export class PicturedAdmission implements Admission {
  /** By when they were counted, longest ago first. */
  private readonly counts = new Map<string, Held>();
  private readonly uncountedWork = new UncountedWork();
  private held: Held = none;
  private memory: RedisMemory = { usedBytes: 0, maxBytes: 0 };
  private met: readonly string[] = [];
  private cursor = '0';

  constructor(
    private readonly load: LoadRepository,
    private readonly settings: AdmissionSettings,
    private readonly onRefused: (of: 'tenant_jobs' | 'tenant_bytes' | 'jobs' | 'bytes' | 'memory') => void = () =>
      undefined,
  ) {}

  /** Renews the snapshot. While Redis is unavailable the last one stays in effect. */
  async look(): Promise<void> {
    const tenants = [...new Set([...this.met, ...this.longestAgo(), ...this.uncountedWork.tenants])].slice(
      0,
      mostTenants,
    );
    const arrived = this.uncountedWork.beginCount();
    const sized = this.settings.bytes > 0 || this.settings.tenantBytes > 0;
    const report = await this.load.read({ tenants, cursor: this.cursor, sized });
    this.memory = report.memory;
    this.met = report.met;
    this.cursor = report.cursor;
    for (const { tenant, held } of arrived()) this.setCount(tenant, plus(this.countOf(tenant), held));
    for (const { tenant, jobs, bytes } of report.tenants)
      this.setCount(tenant, { jobs, bytes: this.believed(tenant, jobs, bytes) });
  }

  job<T>(tenant: string, bytes: number, store: () => Promise<T>): Promise<T> {
    const verdict = admit(this.loadOf(tenant), this.settings, bytes);
    return this.given(verdict, tenant, { jobs: 1, bytes }, store);
  }

  data<T>(tenant: string, bytes: number, store: () => Promise<T>): Promise<T> {
    const hasRoom = hasMemory(this.loadOf(tenant), this.settings, bytes);
    const verdict: AdmissionVerdict = hasRoom ? { kind: 'admitted' } : { kind: 'full', of: 'memory' };
    return this.given(verdict, tenant, { jobs: 0, bytes }, store);
  }

  private async given<T>(verdict: AdmissionVerdict, tenant: string, held: Held, store: () => Promise<T>): Promise<T> {
    switch (verdict.kind) {
      case 'tenant_full': {
        const { of, current, limit } = verdict;
        this.onRefused(`tenant_${of}`);
        throw new AppError('backpressure', { limit_of: of, current, limit }, { 'Retry-After': waitForSelfSec });
      }
      case 'full':
        this.onRefused(verdict.of);
        throw new AppError('overloaded', {}, { 'Retry-After': waitForOthersSec });
      case 'admitted':
        break;
    }
    const place = this.uncountedWork.take(tenant, held);
    try {
      const stored = await store();
      this.uncountedWork.stored(place);
      return stored;
    } catch (error) {
      this.uncountedWork.giveBack(place);
      throw error;
    }
  }

  private loadOf(tenant: string): Load {
    const since = this.uncountedWork.all;
    return {
      tenant: plus(this.countOf(tenant), this.uncountedWork.of(tenant)),
      all: plus(this.held, since),
      memory: {
        usedBytes: this.memory.usedBytes + since.bytes + since.jobs * jobOverheadBytes,
        limitBytes: this.memory.maxBytes || this.settings.memoryLimitBytes,
      },
    };
  }

  private countOf(tenant: string): Held {
    return this.counts.get(tenant) ?? none;
  }

  /** Sizes are those of some jobs: one look moves what is believed of the mean a part of the way. */
  private believed(tenant: string, jobs: number, lookedBytes: number): number {
    const before = this.countOf(tenant);
    if (jobs === 0 || before.jobs === 0 || before.bytes === 0) return lookedBytes;
    const mean = before.bytes / before.jobs;
    return jobs * mean + (lookedBytes - jobs * mean) * newLookWeight;
  }

  /** Known tenants in the order of their last count: one that is in no list of Redis any more is asked for too. */
  private longestAgo(): string[] {
    const names: string[] = [];
    for (const name of this.counts.keys()) if (names.push(name) === longestAgoAtOnce) break;
    return names;
  }

  private setCount(tenant: string, held: Held): void {
    const before = this.countOf(tenant);
    this.held = { jobs: this.held.jobs + held.jobs - before.jobs, bytes: this.held.bytes + held.bytes - before.bytes };
    this.counts.delete(tenant); // what is set anew comes last
    if (held.jobs > 0) this.counts.set(tenant, held);
  }
}

const none: Held = { jobs: 0, bytes: 0 };

const plus = (a: Held, b: Held): Held => ({ jobs: a.jobs + b.jobs, bytes: a.bytes + b.bytes });
