import { isTerminal, jobStates } from '@svc/lifecycle';
import type { Redis } from 'ioredis';
import type { Keys } from './keys';
import { parseMemory, type RedisMemory } from './redis-facts';

export interface LoadQuery {
  tenants: readonly string[];
  /** Cursor of the scan over all tenants; '0' starts it. */
  cursor: string;
  /** Whether to sample job sizes. */
  sized: boolean;
}

/** Open jobs of a tenant. */
export interface TenantLoad {
  tenant: string;
  jobs: number;
  /** Estimated from a sample of each state; 0 if sizes were not requested. */
  bytes: number;
}

export interface LoadReport {
  memory: RedisMemory;
  tenants: readonly TenantLoad[];
  /** Tenants found by the scan, to be queried next. */
  met: readonly string[];
  cursor: string;
}

const scanBatchSize = 50;
/** Sampled jobs per tenant and state. */
const sampleSize = 3;
const openStates = jobStates.states.filter((state) => !isTerminal(state));

interface JobSample {
  tenant: string;
  jobs: number;
  ids: readonly string[];
}

/** Measures memory and open jobs. At most two round trips per call, over a bounded part of all tenants. */
export class LoadRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  async read({ tenants, cursor, sized }: LoadQuery): Promise<LoadReport> {
    const pipeline = this.redis.pipeline().info('memory').sscan(this.keys.tenants(), cursor, 'COUNT', scanBatchSize);
    const asked = tenants.flatMap((tenant) => openStates.map((state) => ({ tenant, state })));
    for (const { tenant, state } of asked) {
      pipeline.zcard(this.keys.jobsInState(tenant, state));
      if (sized) pipeline.zrandmember(this.keys.jobsInState(tenant, state), sampleSize);
    }
    const [info, walk, ...rest] = unwrapReplies(await pipeline.exec());
    const [next, met] = walk as [string, string[]]; // the reply of SSCAN
    const each = sized ? 2 : 1;
    const found = asked.map(({ tenant }, i): JobSample => {
      const ids = sized ? (rest[i * each + 1] as string[]) : []; // the reply of ZRANDMEMBER with a count
      return { tenant, jobs: Number(rest[i * each]), ids };
    });
    return {
      memory: parseMemory(String(info)),
      tenants: byTenant(tenants, found, await this.sizes(found)),
      met,
      cursor: next,
    };
  }

  /** Bytes of a job: its input and its request. The constant overhead per job is left to the memory limit. */
  private async sizes(sampled: readonly JobSample[]): Promise<ReadonlyMap<string, number>> {
    const ids = sampled.flatMap((sample) => sample.ids);
    if (ids.length === 0) return new Map();
    const pipeline = this.redis.pipeline();
    for (const id of ids) pipeline.strlen(this.keys.context(id)).hstrlen(this.keys.job(id), 'request');
    const sizes = unwrapReplies(await pipeline.exec()).map(Number);
    return new Map(ids.map((id, i) => [id, (sizes[i * 2] ?? 0) + (sizes[i * 2 + 1] ?? 0)]));
  }
}

function byTenant(tenants: readonly string[], found: readonly JobSample[], sizes: ReadonlyMap<string, number>) {
  const loads = new Map(tenants.map((tenant) => [tenant, { tenant, jobs: 0, bytes: 0 }]));
  for (const { tenant, jobs, ids } of found) {
    const load = loads.get(tenant);
    if (!load || jobs === 0) continue;
    const sampled = ids.reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0);
    load.jobs += jobs;
    load.bytes += ids.length === 0 ? 0 : (sampled / ids.length) * jobs;
  }
  return [...loads.values()];
}

const unwrapReplies = (replies: [error: Error | null, reply: unknown][] | null): unknown[] =>
  (replies ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
