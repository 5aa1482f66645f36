import { inFlightStates } from '@svc/lifecycle';
import type { Redis } from 'ioredis';
import type { JobRecord } from './job.record';
import type { ParkingQueue } from './job.transition';
import type { Keys } from './keys';

/** The queue entry of a job. */
export interface EntryPosition {
  queue: 'jobs' | ParkingQueue;
  /** `taken`: a scheduler is processing it or about to. `absent`, `failed`: the job will not be processed. */
  at: 'waiting' | 'delayed' | 'taken' | 'failed' | 'absent';
  /** When a delayed entry is due, unix ms. */
  dueMs?: number;
  /** Whether other entries are ahead of a waiting one. */
  hasOthersBefore: boolean;
  /** An operator paused the queue. */
  isPaused: boolean;
}

/** Position of a job in its lane. Of other tenants it reveals only whether any are ahead. */
export interface LanePosition {
  lane: string;
  level: number;
  /** Jobs of the same tenant ahead of it. */
  ownBefore: number;
  hasOthersBefore: boolean;
  /** Its tenant is at its limit and suspended until one of its jobs ends. */
  isOutOfTurn: boolean;
}

export interface QueuePosition {
  entry: EntryPosition;
  lane?: LanePosition;
  /** In-flight jobs of the tenant. */
  tenantInFlight: number;
  /** In-flight jobs of all tenants, if counted for the license. */
  allInFlight: number;
}

export interface LockHolder {
  owner: string;
  /** Remaining time unless renewed. */
  leftMs: number;
}

/** The queue entry, inbox and lock of a run. */
export interface RunPosition {
  /**
   * `asleep`: no work until the next event. `due`: an engine may process it. `failed`, `lost`: it has work, but no entry
   * that will be processed.
   */
  entry: 'asleep' | 'due' | 'delayed' | 'failed' | 'lost';
  /** When a delayed entry is due, unix ms. */
  dueMs?: number;
  /** An operator paused the queue. */
  isPaused: boolean;
  /** Number of unprocessed events. */
  inbox: number;
  lock?: LockHolder;
}

type QueueNames = Readonly<Record<string, { readonly name: string }>>;

/** BullMQ stores the due time of a delayed entry above a 12-bit counter. */
const toDueMs = (score: string): number => Math.floor(Number(score) / 0x1000);

/** The entry id of a job, as in bull.lua. */
const toEntryId = (jobId: string): string => `job-${jobId.replaceAll(':', '~')}`;

/** Queue positions of jobs and runs, for explanations. Read-only. */
export class QueuePositionRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly queues: QueueNames,
  ) {}

  async of(job: Pick<JobRecord, 'id' | 'tenant' | 'parked' | 'lane'>): Promise<QueuePosition> {
    const [entryId, level] = await this.redis.hmget(this.keys.job(job.id), 'entry', 'level');
    const [entry, lane, [all = 0, ...ofTenant]] = await Promise.all([
      this.entry(job, entryId ?? ''),
      job.lane === '' ? undefined : this.lane(job, Number(level)),
      this.cards([this.keys.allInFlight(), ...inFlightStates.map((state) => this.keys.jobsInState(job.tenant, state))]),
    ]);
    const tenantInFlight = ofTenant.reduce((sum, count) => sum + count, 0);
    return { entry, ...(lane && { lane }), tenantInFlight, allInFlight: all };
  }

  async ofRun(runId: string): Promise<RunPosition> {
    const [awake, wakes] = await this.redis.hmget(this.keys.run(runId), 'awake', 'wakes');
    const own = `run-${runId.replaceAll(':', '~')}-${wakes ?? ''}`;
    const key = (part: string) => this.keyOf('runPasses', part);
    const [exists, due, failed, paused, inbox, lock] = await Promise.all([
      this.redis.exists(key(own)),
      this.redis.zscore(key('delayed'), own),
      this.redis.zscore(key('failed'), own),
      this.redis.hexists(key('meta'), 'paused'),
      this.redis.llen(this.keys.runInbox(runId)),
      this.runLock(runId),
    ]);
    const rest = { isPaused: paused === 1, inbox, ...(lock && { lock }) };
    if (!awake) return { entry: 'asleep', ...rest };
    if (failed !== null) return { entry: 'failed', ...rest };
    if (exists === 0) return { entry: 'lost', ...rest };
    return due === null ? { entry: 'due', ...rest } : { entry: 'delayed', dueMs: toDueMs(due), ...rest };
  }

  /** The current owner of a run. */
  private async runLock(runId: string): Promise<LockHolder | undefined> {
    const key = this.keys.runLock(runId);
    const [owner, leftMs] = await Promise.all([this.redis.get(key), this.redis.pttl(key)]);
    return owner && leftMs > 0 ? { owner, leftMs } : undefined;
  }

  private keyOf(queue: string, part: string): string {
    return this.keys.queue(this.queues[queue]?.name ?? queue, part);
  }

  private async entry({ id, parked }: Pick<JobRecord, 'id' | 'parked'>, entryId: string): Promise<EntryPosition> {
    const queue = toQueue(parked);
    const key = (part: string) => this.keyOf(queue, part);
    const own = parked === '' && entryId !== '' ? entryId : toEntryId(id);
    const [exists, due, rank, failed, paused] = await Promise.all([
      this.redis.exists(key(own)),
      this.redis.zscore(key('delayed'), own),
      this.redis.zrank(key('prioritized'), own),
      this.redis.zscore(key('failed'), own),
      this.redis.hexists(key('meta'), 'paused'),
    ]);
    const place = { queue, hasOthersBefore: rank !== null && rank > 0, isPaused: paused === 1 };
    if (exists === 0) return { ...place, at: 'absent' };
    if (failed !== null) return { ...place, at: 'failed' };
    if (due !== null) return { ...place, at: 'delayed', dueMs: toDueMs(due) };
    return { ...place, at: rank === null ? 'taken' : 'waiting' };
  }

  private async lane(job: Pick<JobRecord, 'id' | 'tenant' | 'lane'>, level: number): Promise<LanePosition> {
    const { id, tenant, lane } = job;
    const levels = Array.from({ length: level - 1 }, (_, i) => i + 1);
    const [rank, turn, full, ahead, turns] = await Promise.all([
      this.redis.zrank(this.keys.laneJobs(lane, String(level), tenant), id),
      this.redis.zrank(this.keys.laneTurns(lane, String(level)), tenant),
      this.redis.zscore(this.keys.laneFull(lane, String(level)), tenant),
      this.cards(levels.map((above) => this.keys.laneJobs(lane, String(above), tenant))),
      this.cards(levels.map((above) => this.keys.laneTurns(lane, String(above)))),
    ]);
    const ownBefore = (rank ?? 0) + ahead.reduce((sum, count) => sum + count, 0);
    // At a more urgent level, other tenants than this one wait.
    const isAnyoneAbove = turns.some((count, i) => count > ((ahead[i] ?? 0) > 0 ? 1 : 0));
    return {
      lane,
      level,
      ownBefore,
      hasOthersBefore: isAnyoneAbove || (turn !== null && turn > 0),
      isOutOfTurn: full !== null,
    };
  }

  private async cards(wanted: readonly string[]): Promise<number[]> {
    const pipeline = this.redis.pipeline();
    for (const key of wanted) {
      if (key === this.keys.allInFlight()) pipeline.scard(key);
      else pipeline.zcard(key);
    }
    return ((await pipeline.exec()) ?? []).map(([error, count]) => {
      if (error) throw error;
      return Number(count);
    });
  }
}

const toQueue = (parked: string): EntryPosition['queue'] =>
  parked === 'jobWaiting' || parked === 'jobApprovals' || parked === 'jobRunning' ? parked : 'jobs';
