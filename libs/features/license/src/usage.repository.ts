import { keys, type Keys } from '@svc/store';
import type { Redis } from 'ioredis';

/** Numbers of the installation that limits of the license are compared with. */
export interface LicensedCounts {
  registeredWorkers: number;
  connectedWorkers: number;
  jobsWithWorkers: number;
  activeRuns: number;
  schemas: number;
}

/** As the script that registers live workers. */
const LIVE_WORKER_MS = 120_000;
const IN_FLIGHT = ['DISPATCHED', 'RUNNING'] as const;
const TENANTS_AT_ONCE = 500;

/** Reads what counts against the limits of the license. Two round trips, and one for each 500 tenants. */
export class UsageRepository {
  constructor(
    private readonly redis: Redis,
    private readonly own: Keys,
  ) {}

  async counts(nowMs: number): Promise<LicensedCounts> {
    const replies = await this.redis
      .pipeline()
      .scard(keys.workerCredentialsActive())
      .zcount(keys.liveWorkers(), nowMs - LIVE_WORKER_MS, '+inf')
      .zcard(this.own.liveRuns())
      .zcard(keys.schemas())
      .zcard(keys.tenantSchemas())
      .smembers(this.own.tenants())
      .exec();
    const [registered, connected, runs, schemas, tenantSchemas, tenants] = unwrap(replies);
    return {
      registeredWorkers: Number(registered),
      connectedWorkers: Number(connected),
      jobsWithWorkers: await this.jobsWithWorkers(tenants as string[]), // the reply of SMEMBERS
      activeRuns: Number(runs),
      schemas: Number(schemas) + Number(tenantSchemas),
    };
  }

  /** The set of these jobs exists only while the license limits them, so their indexes are counted. */
  private async jobsWithWorkers(tenants: readonly string[]): Promise<number> {
    let jobs = 0;
    for (let i = 0; i < tenants.length; i += TENANTS_AT_ONCE) {
      const pipeline = this.redis.pipeline();
      for (const tenant of tenants.slice(i, i + TENANTS_AT_ONCE))
        for (const state of IN_FLIGHT) pipeline.zcard(this.own.jobsInState(tenant, state));
      jobs += unwrap(await pipeline.exec()).reduce<number>((sum, count) => sum + Number(count), 0);
    }
    return jobs;
  }
}

const unwrap = (replies: [Error | null, unknown][] | null): unknown[] =>
  (replies ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
