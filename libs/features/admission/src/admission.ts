import { AppError } from '@svc/contract';
import type { LoadRepository, RedisMemory } from '@svc/store';
import {
  type AdmissionLimits,
  type AdmissionDecision,
  admit,
  hasMemory,
  type Usage,
  jobOverheadBytes,
  type Load,
} from './admit';
import { InFlightReservations } from './in-flight-reservations';

/** Admission control for new work. */
export interface Admission {
  /**
   * Runs the write of a job if there is capacity for it. The capacity stays reserved until the write ends.
   *
   * @param bytes of the job's input
   * @throws backpressure at the tenant's limit, overloaded at a shared limit, and the errors of `store`
   */
  job<T>(tenant: string, bytes: number, store: () => Promise<T>): Promise<T>;
  /**
   * Runs the write of other data, such as an artifact. Only memory is checked.
   *
   * @throws overloaded
   */
  data<T>(tenant: string, bytes: number, store: () => Promise<T>): Promise<T>;
}

/** Admits everything, for callers whose work is already admitted. */
export const admitAll: Admission = {
  job: (_tenant, _bytes, store) => store(),
  data: (_tenant, _bytes, store) => store(),
};

export interface AdmissionSettings extends AdmissionLimits {
  /** Memory limit for a Redis without one of its own; 0 = none. */
  memoryLimitBytes: number;
}

/** Maximum tenants per snapshot; the others keep their last counts. */
const MAX_TENANTS = 200;
const oldestPerSnapshot = 50;
/** Weight of a new sample in the average job size of a tenant. */
const newSampleWeight = 0.25;
const overloadedRetrySec = '5';
const backpressureRetrySec = '2';

/**
 * Admission by a periodic snapshot of Redis plus the work this process admitted since, so no submission reads Redis. Gateways
 * see each other's work with the next snapshot; the memory reserve also covers that delay.
 */
export class SnapshotAdmission implements Admission {
  /** Usage by tenant, in the order of the last count, oldest first. */
  private readonly counts = new Map<string, Usage>();
  private readonly reservations = new InFlightReservations();
  private total: Usage = none;
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
  async refresh(): Promise<void> {
    const tenants = [...new Set([...this.met, ...this.oldestCounted(), ...this.reservations.tenants])].slice(
      0,
      MAX_TENANTS,
    );
    const completeCount = this.reservations.beginCount();
    const sized = this.settings.bytes > 0 || this.settings.tenantBytes > 0;
    const report = await this.load.read({ tenants, cursor: this.cursor, sized });
    this.memory = report.memory;
    this.met = report.met;
    this.cursor = report.cursor;
    for (const { tenant, usage } of completeCount()) this.setCount(tenant, plus(this.getCount(tenant), usage));
    for (const { tenant, jobs, bytes } of report.tenants)
      this.setCount(tenant, { jobs, bytes: this.smoothBytes(tenant, jobs, bytes) });
  }

  job<T>(tenant: string, bytes: number, store: () => Promise<T>): Promise<T> {
    const decision = admit(this.getLoad(tenant), this.settings, bytes);
    return this.storeIfAdmitted(decision, tenant, { jobs: 1, bytes }, store);
  }

  data<T>(tenant: string, bytes: number, store: () => Promise<T>): Promise<T> {
    const hasRoom = hasMemory(this.getLoad(tenant), this.settings, bytes);
    const decision: AdmissionDecision = hasRoom ? { kind: 'admitted' } : { kind: 'full', of: 'memory' };
    return this.storeIfAdmitted(decision, tenant, { jobs: 0, bytes }, store);
  }

  private async storeIfAdmitted<T>(
    decision: AdmissionDecision,
    tenant: string,
    usage: Usage,
    store: () => Promise<T>,
  ): Promise<T> {
    switch (decision.kind) {
      case 'tenant_full': {
        const { of, current, limit } = decision;
        this.onRefused(`tenant_${of}`);
        throw new AppError('backpressure', { limit_of: of, current, limit }, { 'Retry-After': backpressureRetrySec });
      }
      case 'full':
        this.onRefused(decision.of);
        throw new AppError('overloaded', {}, { 'Retry-After': overloadedRetrySec });
      case 'admitted':
        break;
    }
    const reservation = this.reservations.reserve(tenant, usage);
    try {
      const stored = await store();
      this.reservations.commit(reservation);
      return stored;
    } catch (error) {
      this.reservations.release(reservation);
      throw error;
    }
  }

  private getLoad(tenant: string): Load {
    const since = this.reservations.all;
    return {
      tenant: plus(this.getCount(tenant), this.reservations.of(tenant)),
      all: plus(this.total, since),
      memory: {
        usedBytes: this.memory.usedBytes + since.bytes + since.jobs * jobOverheadBytes,
        limitBytes: this.memory.maxBytes || this.settings.memoryLimitBytes,
      },
    };
  }

  private getCount(tenant: string): Usage {
    return this.counts.get(tenant) ?? none;
  }

  /** Sizes are sampled from a few jobs, so the mean job size is an exponentially weighted average. */
  private smoothBytes(tenant: string, jobs: number, sampledBytes: number): number {
    const before = this.getCount(tenant);
    if (jobs === 0 || before.jobs === 0 || before.bytes === 0) return sampledBytes;
    const mean = before.bytes / before.jobs;
    return jobs * mean + (sampledBytes - jobs * mean) * newSampleWeight;
  }

  /** Known tenants, oldest count first, so that tenants no longer listed in Redis are counted too. */
  private oldestCounted(): string[] {
    const names: string[] = [];
    for (const name of this.counts.keys()) if (names.push(name) === oldestPerSnapshot) break;
    return names;
  }

  private setCount(tenant: string, usage: Usage): void {
    const before = this.getCount(tenant);
    this.total = {
      jobs: this.total.jobs + usage.jobs - before.jobs,
      bytes: this.total.bytes + usage.bytes - before.bytes,
    };
    this.counts.delete(tenant); // Deleted first so that the entry moves to the end.
    if (usage.jobs > 0) this.counts.set(tenant, usage);
  }
}

const none: Usage = { jobs: 0, bytes: 0 };

const plus = (a: Usage, b: Usage): Usage => ({ jobs: a.jobs + b.jobs, bytes: a.bytes + b.bytes });
