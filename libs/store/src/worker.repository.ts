import type { Redis } from 'ioredis';
import type { Keys } from './keys';
import { runScript, runScriptSoon } from './scripts';

/** A live worker in the shared snapshot. See docs/reference/worker-protocol.md#heartbeat. */
export interface WorkerRecord {
  worker_id: string;
  pool: string;
  region: string;
  type: string;
  active_jobs: number;
  max_parallel_jobs: number;
  capabilities: string[];
  labels: Record<string, string>;
  cpu_load: number;
  gpu_utilization: number;
  memory_load: number;
  ready_topics: string[];
  /** Unix ms, by the scheduler's clock. */
  last_heartbeat_ms: number;
  agent_name: string;
  draining: boolean;
  /** Whether its heartbeats report the number of running jobs. */
  reports_jobs?: boolean;
  /** Whether it has a valid credential; absent where workers are not attested. */
  attested?: boolean;
  /** Tenant of its credential. */
  tenant?: string;
  /** Its last session; absent where there are none. */
  session?: { exp_ms: number; revoked: boolean };
}

export interface WorkerSnapshot {
  captured_at: string;
  writer_id: string;
  pools: Record<string, { workers: number; active_jobs: number; capacity: number }>;
  workers: WorkerRecord[];
}

export interface InstanceRecord {
  id: string;
  service: string;
  version: string;
  commit: string;
  started_at: string;
}

export type EchoMode = 'announce' | 'learn' | 'keep';

/** Bounds entries added by forged heartbeats; a worker has two processes during a restart. */
const MAX_ECHOING_BOOTS = 8;
const instanceTtlSec = 15;
const liveWorkerTtlMs = 120_000;
/** A live worker stays one when some renewals are lost. */
export const LIVE_WORKER_RENEWAL_MS = 30_000;
/** Bounds the time for which a script blocks Redis. */
const idBatchSize = 500;
/** Bounds the reads for a list of pools. */
const MAX_LANES_COUNTED = 1_000;

/** Live workers and service instances. */
export class WorkerRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  async writeSnapshot(snapshot: WorkerSnapshot): Promise<void> {
    await this.redis.set(this.keys.workerSnapshot(), JSON.stringify(snapshot));
  }

  async snapshot(): Promise<WorkerSnapshot | null> {
    const text = await this.redis.get(this.keys.workerSnapshot());
    return text ? (JSON.parse(text) as WorkerSnapshot) : null;
  }

  /**
   * Registers a worker as live for the license limit; false if it is new and the limit is reached.
   *
   * @param max 0 or less = unlimited
   */
  async addLiveWorker(workerId: string, nowMs: number, max: number): Promise<boolean> {
    const args = [workerId, nowMs, nowMs - liveWorkerTtlMs, Math.max(0, max)];
    const reply = await runScript(this.redis, 'addLiveWorker', this.keys.liveWorkers(), ...args);
    return (reply as [string])[0] === 'live';
  }

  /** Renews a live worker, whatever the limit. Due every `LIVE_WORKER_RENEWAL_MS`. Without urgency. */
  async renewLiveWorker(workerId: string, nowMs: number): Promise<void> {
    const args = [workerId, nowMs, nowMs - liveWorkerTtlMs, 0];
    await runScriptSoon(this.redis, 'addLiveWorker', this.keys.liveWorkers(), ...args);
  }

  /**
   * Records or renews which processes of a worker send dispatch ids in their reports. See `keepEcho-1.lua`.
   *
   * @param boots boot ids of the processes, '' for one without
   * @returns whether a live process of the worker does
   */
  async keepEcho(workerId: string, mode: EchoMode, boots: readonly string[], ttlMs: number): Promise<boolean> {
    const record = this.keys.workerEchoes(workerId);
    const reply = await runScript(this.redis, 'keepEcho', record, mode, ttlMs, MAX_ECHOING_BOOTS, ...boots);
    return (reply as [string])[0] === 'known';
  }

  /** The same for a process that this caller has recorded before, without urgency. */
  async renewEcho(workerId: string, mode: EchoMode, boot: string, ttlMs: number): Promise<boolean> {
    const record = this.keys.workerEchoes(workerId);
    const reply = await runScriptSoon(this.redis, 'keepEcho', record, mode, ttlMs, MAX_ECHOING_BOOTS, boot);
    return (reply as [string])[0] === 'known';
  }

  /** Whether a live process of the worker is known to send dispatch ids in its reports. */
  async echoesDispatch(workerId: string): Promise<boolean> {
    return (await this.redis.exists(this.keys.workerEchoes(workerId))) === 1;
  }

  async removeLiveWorker(workerId: string): Promise<void> {
    await this.redis.zrem(this.keys.liveWorkers(), workerId);
  }

  /** Ids of the in-flight jobs of a worker. */
  async inFlight(workerId: string): Promise<string[]> {
    return this.redis.smembers(this.keys.workerInFlight(workerId));
  }

  /** The same without urgency: the reads for many workers share one call of Redis. */
  async inFlightSoon(workerId: string): Promise<string[]> {
    return (await runScriptSoon(this.redis, 'inFlightOf', this.keys.workerInFlight(workerId))) as string[];
  }

  /** Filters job ids that are not in flight on a worker. */
  async notHeld(workerId: string, ids: readonly string[]): Promise<string[]> {
    const held = await this.redis.smismember(this.keys.workerInFlight(workerId), ...ids);
    return ids.filter((_, i) => held[i] === 0);
  }

  /** Releases slots of jobs that are not in flight on this worker. Returns their number. */
  async freeWorkerSlots(workerId: string): Promise<number> {
    return this.freeUnusedSlots(this.keys.workerInFlight(workerId), workerId);
  }

  /** Releases license slots of jobs that are not in flight. Returns their number. */
  async freeLicenseSlots(): Promise<number> {
    return this.freeUnusedSlots(this.keys.allInFlight(), '');
  }

  private async freeUnusedSlots(set: string, workerId: string): Promise<number> {
    const ids = await this.redis.smembers(set);
    let freed = 0;
    for (let i = 0; i < ids.length; i += idBatchSize) {
      freed += Number(await runScript(this.redis, 'freeUnusedSlots', set, workerId, ...ids.slice(i, i + idBatchSize)));
    }
    return freed;
  }

  /** Numbers of in-flight jobs of workers, by the scheduler's count. */
  async inFlightCounts(workerIds: readonly string[]): Promise<number[]> {
    const pipeline = this.redis.pipeline();
    for (const id of workerIds) pipeline.scard(this.keys.workerInFlight(id));
    return ((await pipeline.exec()) ?? []).map(([, count]) => Number(count));
  }

  /** Job ids dispatched to a worker, newest first. */
  async recentJobs(workerId: string, count: number): Promise<string[]> {
    return this.redis.lrange(this.keys.workerJobs(workerId), 0, count - 1);
  }

  /** Lanes with waiting jobs, and their routing requirements. */
  async lanes(): Promise<Record<string, string>> {
    return this.redis.hgetall(this.keys.lanes());
  }

  /** Lanes with the number of jobs that wait in them, of the first `MAX_LANES_COUNTED` lanes. */
  async waiting(): Promise<{ spec: string; jobs: number }[]> {
    const lanes = Object.entries(await this.lanes()).slice(0, MAX_LANES_COUNTED);
    const levels = lanes.flatMap(([lane]) => ['1', '2', '3'].map((level) => ({ lane, level })));
    const tenants = this.redis.pipeline();
    for (const { lane, level } of levels) {
      tenants.zrange(this.keys.laneTurns(lane, level), 0, '-1');
      tenants.zrange(this.keys.laneFull(lane, level), 0, '-1');
    }
    const found = ((await tenants.exec()) ?? []).map(([, reply]) => (reply ?? []) as string[]);
    const places = levels.flatMap(({ lane, level }, i) =>
      [...(found[2 * i] ?? []), ...(found[2 * i + 1] ?? [])].map((tenant) => ({ lane, level, tenant })),
    );
    const counts = this.redis.pipeline();
    for (const { lane, level, tenant } of places) counts.zcard(this.keys.laneJobs(lane, level, tenant));
    const jobs = new Map<string, number>();
    for (const [i, [, count]] of ((await counts.exec()) ?? []).entries()) {
      const lane = places[i]?.lane ?? '';
      jobs.set(lane, (jobs.get(lane) ?? 0) + Number(count));
    }
    return lanes.map(([lane, spec]) => ({ spec, jobs: jobs.get(lane) ?? 0 }));
  }

  async keepInstance(instance: InstanceRecord): Promise<void> {
    await this.redis.set(
      this.keys.instance(instance.service, instance.id),
      JSON.stringify(instance),
      'EX',
      instanceTtlSec,
    );
  }

  async dropInstance(service: string, id: string): Promise<void> {
    await this.redis.del(this.keys.instance(service, id));
  }

  /** Running instances of some services. */
  async instances(services: readonly string[]): Promise<(InstanceRecord & { ttl_remaining_ms: number })[]> {
    const found: (InstanceRecord & { ttl_remaining_ms: number })[] = [];
    for (const service of services) {
      for await (const batch of this.redis.scanStream({ match: this.keys.instance(service, '*'), count: 1000 })) {
        for (const key of batch as string[]) {
          const [text, ttl] = await Promise.all([this.redis.get(key), this.redis.pttl(key)]);
          if (text) found.push({ ...(JSON.parse(text) as InstanceRecord), ttl_remaining_ms: Math.max(0, ttl) });
        }
      }
    }
    return found;
  }
}
