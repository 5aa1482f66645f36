import { inFlightStates } from '@svc/lifecycle';
import type { Redis } from 'ioredis';
import type { JobRecord } from './job.record';
import type { ParkingQueue } from './job.repository';
import { keys } from './keys';

/** The queue entry that will bring a job forward. */
export interface EntryPlace {
  queue: 'jobs' | ParkingQueue;
  /** `taken`: a scheduler is at it, or is about to be. `absent`, `failed`: nothing brings the job forward. */
  at: 'waiting' | 'delayed' | 'taken' | 'failed' | 'absent';
  /** When a delayed entry is due, unix ms. */
  dueMs?: number;
  /** Whether entries stand before a waiting one. */
  hasOthersBefore: boolean;
  /** An operator paused the queue. */
  isPaused: boolean;
}

/** Where a job stands among those that wait for the same workers. Of other tenants it says no more than that they are there. */
export interface LanePlace {
  lane: string;
  level: number;
  /** Jobs of the same tenant that go first. */
  ownBefore: number;
  hasOthersBefore: boolean;
  /** Its tenant was found at its limit: it takes no turns until one of its jobs ends. */
  isOutOfTurn: boolean;
}

export interface Standing {
  entry: EntryPlace;
  lane?: LanePlace;
  /** Jobs of the tenant that are with workers. */
  tenantInFlight: number;
  /** Jobs of all tenants that are with workers, as far as they are counted for the license. */
  allInFlight: number;
}

export interface LockHolder {
  owner: string;
  /** Until it ends unless it is renewed. */
  leftMs: number;
}

/** What will bring a run to an engine. */
export interface RunStanding {
  /**
   * `asleep`: nothing is to be done for it until something happens. `due`: an engine may take it. `failed`, `lost`: it has
   * something to do, and no entry brings it to an engine.
   */
  entry: 'asleep' | 'due' | 'delayed' | 'failed' | 'lost';
  /** When a delayed entry is due, unix ms. */
  dueMs?: number;
  /** An operator paused the queue. */
  isPaused: boolean;
  /** What happened to it and is not worked out yet. */
  inbox: number;
  lock?: LockHolder;
}

type QueueNames = Readonly<Record<string, { readonly name: string }>>;

/** BullMQ keeps the time of a delayed entry above a counter of 12 bits. */
const dueOf = (score: string): number => Math.floor(Number(score) / 0x1000);

/** How bull.lua makes the id of an entry from that of a job. */
const entryIdOf = (jobId: string): string => `job-${jobId.replaceAll(':', '~')}`;

/** Where jobs stand, for whoever asks why they do not run. It changes nothing. */
export class StandingRepository {
  constructor(
    private readonly redis: Redis,
    private readonly queues: QueueNames,
  ) {}

  async of(job: Pick<JobRecord, 'id' | 'tenant' | 'parked' | 'lane'>): Promise<Standing> {
    const [entryId, level] = await this.redis.hmget(keys.job(job.id), 'entry', 'level');
    const [entry, lane, [all = 0, ...ofTenant]] = await Promise.all([
      this.entry(job, entryId ?? ''),
      job.lane === '' ? undefined : this.lane(job, Number(level)),
      this.cards([keys.allInFlight(), ...inFlightStates.map((state) => keys.jobsInState(job.tenant, state))]),
    ]);
    const tenantInFlight = ofTenant.reduce((sum, count) => sum + count, 0);
    return { entry, ...(lane && { lane }), tenantInFlight, allInFlight: all };
  }

  async ofRun(runId: string): Promise<RunStanding> {
    const [awake, wakes] = await this.redis.hmget(keys.run(runId), 'awake', 'wakes');
    const own = `run-${runId.replaceAll(':', '~')}-${wakes ?? ''}`;
    const key = (part: string) => this.keyOf('runPasses', part);
    const [exists, due, failed, paused, inbox, lock] = await Promise.all([
      this.redis.exists(key(own)),
      this.redis.zscore(key('delayed'), own),
      this.redis.zscore(key('failed'), own),
      this.redis.hexists(key('meta'), 'paused'),
      this.redis.llen(keys.runInbox(runId)),
      this.runLock(runId),
    ]);
    const rest = { isPaused: paused === 1, inbox, ...(lock && { lock }) };
    if (!awake) return { entry: 'asleep', ...rest };
    if (failed !== null) return { entry: 'failed', ...rest };
    if (exists === 0) return { entry: 'lost', ...rest };
    return due === null ? { entry: 'due', ...rest } : { entry: 'delayed', dueMs: dueOf(due), ...rest };
  }

  /** Who works on a run now. */
  private async runLock(runId: string): Promise<LockHolder | undefined> {
    const key = keys.runLock(runId);
    const [owner, leftMs] = await Promise.all([this.redis.get(key), this.redis.pttl(key)]);
    return owner && leftMs > 0 ? { owner, leftMs } : undefined;
  }

  private keyOf(queue: string, part: string): string {
    return keys.queue(this.queues[queue]?.name ?? queue, part);
  }

  private async entry({ id, parked }: Pick<JobRecord, 'id' | 'parked'>, entryId: string): Promise<EntryPlace> {
    const queue = placeOf(parked);
    const key = (part: string) => this.keyOf(queue, part);
    const own = parked === '' && entryId !== '' ? entryId : entryIdOf(id);
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
    if (due !== null) return { ...place, at: 'delayed', dueMs: dueOf(due) };
    return { ...place, at: rank === null ? 'taken' : 'waiting' };
  }

  private async lane(job: Pick<JobRecord, 'id' | 'tenant' | 'lane'>, level: number): Promise<LanePlace> {
    const { id, tenant, lane } = job;
    const levels = Array.from({ length: level - 1 }, (_, i) => i + 1);
    const [rank, turn, full, ahead, turns] = await Promise.all([
      this.redis.zrank(keys.laneJobs(lane, String(level), tenant), id),
      this.redis.zrank(keys.laneTurns(lane, String(level)), tenant),
      this.redis.zscore(keys.laneFull(lane, String(level)), tenant),
      this.cards(levels.map((above) => keys.laneJobs(lane, String(above), tenant))),
      this.cards(levels.map((above) => keys.laneTurns(lane, String(above)))),
    ]);
    const ownBefore = (rank ?? 0) + ahead.reduce((sum, count) => sum + count, 0);
    // More tenants take turns at a more urgent level than this one, which has jobs there or not.
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
      if (key === keys.allInFlight()) pipeline.scard(key);
      else pipeline.zcard(key);
    }
    return ((await pipeline.exec()) ?? []).map(([error, count]) => {
      if (error) throw error;
      return Number(count);
    });
  }
}

const placeOf = (parked: string): EntryPlace['queue'] =>
  parked === 'jobWaiting' || parked === 'jobApprovals' || parked === 'jobRunning' ? parked : 'jobs';
