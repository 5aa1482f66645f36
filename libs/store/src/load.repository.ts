import { isTerminal, jobStates } from '@svc/lifecycle';
import type { Redis } from 'ioredis';
import { keys } from './keys';
import { memoryOf, type RedisMemory } from './redis-facts';

export interface LoadQuestion {
  tenants: readonly string[];
  /** Where the walk along all tenants goes on; '0' begins it. */
  cursor: string;
  /** Whether the size of some jobs is looked at. */
  sized: boolean;
}

/** What a tenant holds: jobs that have not ended. */
export interface TenantLoad {
  tenant: string;
  jobs: number;
  /** Estimated from some jobs of each state; 0 when sizes were not asked for. */
  bytes: number;
}

export interface LoadReport {
  memory: RedisMemory;
  tenants: readonly TenantLoad[];
  /** Tenants met on the walk, to be asked for next. */
  met: readonly string[];
  cursor: string;
}

const metAtOnce = 50;
/** Jobs of a tenant in one state that are looked at for their size. */
const looks = 3;
const openStates = jobStates.states.filter((state) => !isTerminal(state));

interface Look {
  tenant: string;
  jobs: number;
  ids: readonly string[];
}

/** How much Redis holds: memory and open jobs. At most two round trips a call, and a bounded part of all tenants. */
export class LoadRepository {
  constructor(private readonly redis: Redis) {}

  async read({ tenants, cursor, sized }: LoadQuestion): Promise<LoadReport> {
    const pipeline = this.redis.pipeline().info('memory').sscan(keys.tenants(), cursor, 'COUNT', metAtOnce);
    const asked = tenants.flatMap((tenant) => openStates.map((state) => ({ tenant, state })));
    for (const { tenant, state } of asked) {
      pipeline.zcard(keys.jobsInState(tenant, state));
      if (sized) pipeline.zrandmember(keys.jobsInState(tenant, state), looks);
    }
    const [info, walk, ...rest] = repliesOf(await pipeline.exec());
    const [next, met] = walk as [string, string[]]; // what SSCAN answers
    const each = sized ? 2 : 1;
    const found = asked.map(({ tenant }, i): Look => {
      const ids = sized ? (rest[i * each + 1] as string[]) : []; // what ZRANDMEMBER with a count answers
      return { tenant, jobs: Number(rest[i * each]), ids };
    });
    return {
      memory: memoryOf(String(info)),
      tenants: byTenant(tenants, found, await this.sizes(found)),
      met,
      cursor: next,
    };
  }

  /** Bytes of a job: its input and its request. What every job takes alike is left to the memory limit. */
  private async sizes(looked: readonly Look[]): Promise<ReadonlyMap<string, number>> {
    const ids = looked.flatMap((look) => look.ids);
    if (ids.length === 0) return new Map();
    const pipeline = this.redis.pipeline();
    for (const id of ids) pipeline.strlen(keys.context(id)).hstrlen(keys.job(id), 'request');
    const sizes = repliesOf(await pipeline.exec()).map(Number);
    return new Map(ids.map((id, i) => [id, (sizes[i * 2] ?? 0) + (sizes[i * 2 + 1] ?? 0)]));
  }
}

function byTenant(tenants: readonly string[], found: readonly Look[], sizes: ReadonlyMap<string, number>) {
  const loads = new Map(tenants.map((tenant) => [tenant, { tenant, jobs: 0, bytes: 0 }]));
  for (const { tenant, jobs, ids } of found) {
    const load = loads.get(tenant);
    if (!load || jobs === 0) continue;
    const looked = ids.reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0);
    load.jobs += jobs;
    load.bytes += ids.length === 0 ? 0 : (looked / ids.length) * jobs;
  }
  return [...loads.values()];
}

const repliesOf = (replies: [error: Error | null, reply: unknown][] | null): unknown[] =>
  (replies ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
