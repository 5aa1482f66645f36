import type { Handshake, Heartbeat } from '@svc/contract';
import { bootIdLabel, dispatchEchoLabel, workerIdPattern } from '@svc/contract';
import type { RoutableWorker } from '@svc/routing';
import type { WorkerRecord } from '@svc/store';
import { type Absence, AbsentJobs, isComplete } from './absent-jobs';

interface WorkerEntry {
  picture: WorkerRecord;
  /** Jobs it holds: its last heartbeat's number, moved by every dispatch and result since. */
  active: number;
  announcedAtMs: number;
  lastSeenMs: number;
  /** When its heartbeat was last compared with the jobs recorded with it. */
  comparedAtMs: number;
  /** Boot ids of its processes, oldest first. */
  boots: readonly string[];
  /** Boot id of a process that announced that it drains: it finishes its jobs even beside its successor. */
  drainingBoot?: string | undefined;
  /** Whether it names the dispatch in its reports, as Redis had it at that time for that process. */
  echo?: { isKnown: boolean; boot: string; atMs: number } | undefined;
  /** A progress report of it named the dispatch, since this scheduler started. */
  namesInProgress?: boolean | undefined;
}

interface Announcement {
  topics: string[];
  draining: boolean;
  reportsJobs: boolean;
  atMs: number;
}

/** Of one worker: more than ever overlap. */
const MAX_BOOTS = 8;
const COMPARE_INTERVAL_MS = 1_000;
/** So that a few lost heartbeats do not let the record expire. */
const ECHO_RENEWALS_PER_TTL = 3;

export interface RegistryTimes {
  /** A worker is gone this long after its last heartbeat. */
  ttlMs: number;
  /** It counts as ready this long after its last handshake. */
  readinessTtlMs: number;
}

export interface HeartbeatOutcome {
  kind: 'new' | 'known';
  /** It has more room than before. */
  freed: boolean;
  /** Another process of this worker was last heard then, and this is the first heartbeat of its successor. */
  replacedAtMs?: number;
}

/**
 * Why a heartbeat counts for nothing, whatever the license says; undefined when it counts.
 * See docs/reference/worker-protocol.md#heartbeat.
 */
export function findHeartbeatRefusal(senderId: string, { worker_id: id }: Heartbeat): string | undefined {
  if (!workerIdPattern.test(id)) return 'worker id has characters a subject cannot hold';
  return senderId === id ? undefined : 'sender_id_mismatch';
}

/**
 * Live workers as this scheduler hears them. Every replica keeps its own from the same broadcast; Redis guards the slots,
 * so a picture that is a little behind can only make a job wait.
 */
export class WorkerRegistry {
  private readonly workers = new Map<string, WorkerEntry>();
  /** Handshakes that came before the first heartbeat. */
  private readonly announced = new Map<string, Announcement>();
  private readonly absent = new AbsentJobs();
  /** Jobs whose slot was given to another while their worker still ends them, by worker; until when, unix ms. */
  private readonly releasedEarly = new Map<string, Map<string, number>>();
  private connectedSinceMs = 0;

  constructor(private readonly times: RegistryTimes) {}

  /** The bus is (again) connected: silence before this says nothing about workers. */
  busConnected(nowMs: number): void {
    this.connectedSinceMs = nowMs;
  }

  /** The bus is away: until it is back, silence says nothing about workers, however long it lasts. */
  busDisconnected(): void {
    this.connectedSinceMs = Infinity;
  }

  heartbeat(beat: Heartbeat, nowMs: number): HeartbeatOutcome {
    const before = this.workers.get(beat.worker_id);
    const announced = this.announced.get(beat.worker_id);
    const picture = toWorkerRecord(beat, announced, nowMs);
    const had = before ? room(before) : 0;
    picture.reports_jobs =
      before?.picture.reports_jobs === true || announced?.reportsJobs === true || beat.active_jobs > 0;
    const boot = beat.labels[bootIdLabel];
    const boots = before?.boots ?? [];
    const isNewBoot = boot !== undefined && !boots.includes(boot);
    const after: WorkerEntry = {
      picture,
      boots: isNewBoot ? [...boots, boot].slice(-MAX_BOOTS) : boots,
      drainingBoot: before?.drainingBoot,
      active: Math.max(0, beat.active_jobs - this.countReleasedEarly(beat.worker_id, nowMs)),
      announcedAtMs: announced?.atMs ?? 0,
      lastSeenMs: nowMs,
      comparedAtMs: before?.comparedAtMs ?? 0,
      echo: before?.echo,
      namesInProgress: before?.namesInProgress,
    };
    this.workers.set(beat.worker_id, after);
    // Routing passed over a silent worker, so its return has to start dispatching again.
    const isKnown = before !== undefined && !this.isSilent(before, nowMs);
    const wasReplaced = isNewBoot && boots.length > 0 && before?.drainingBoot !== boots.at(-1);
    return {
      kind: isKnown ? 'known' : 'new',
      freed: room(after) > had,
      ...(before && wasReplaced && { replacedAtMs: before.lastSeenMs }),
    };
  }

  handshake(senderId: string, shake: Handshake, nowMs: number): void {
    if (senderId !== shake.component_id || !workerIdPattern.test(shake.component_id)) return;
    const state = {
      topics: shake.ready_topics,
      draining: shake.capabilities['x-draining'] === true,
      reportsJobs: shake.capabilities['heartbeats'] === true,
      atMs: nowMs,
    };
    this.announced.set(shake.component_id, state);
    const known = this.workers.get(shake.component_id);
    if (!known) return;
    known.announcedAtMs = nowMs;
    known.picture.ready_topics = state.topics;
    known.picture.draining = state.draining;
    if (state.draining) known.drainingBoot = known.boots.at(-1);
  }

  /** Its heartbeats are known to count the jobs it runs: those of a worker that never counts say nothing about them. */
  reportsJobs(id: string): boolean {
    return this.workers.get(id)?.picture.reports_jobs === true;
  }

  /** Whether this heartbeat is to be compared with what is recorded: bounds what frequent heartbeats cost in Redis. */
  startComparison(id: string, nowMs: number): boolean {
    const known = this.workers.get(id);
    if (!known?.picture.reports_jobs || nowMs - known.comparedAtMs < COMPARE_INTERVAL_MS) return false;
    known.comparedAtMs = nowMs;
    return true;
  }

  /** Whether the record of this worker's echoes in Redis is due to be renewed and read. */
  isEchoDue(id: string, boot: string, nowMs: number): boolean {
    const echo = this.workers.get(id)?.echo;
    return echo?.boot !== boot || nowMs - echo.atMs >= this.times.ttlMs / ECHO_RENEWALS_PER_TTL;
  }

  /** What Redis said of a worker's echoes after the heartbeat of a process. */
  setEcho(id: string, isKnown: boolean, boot: string, nowMs: number): void {
    const known = this.workers.get(id);
    if (known) known.echo = { isKnown, boot, atMs: nowMs };
  }

  /** A worker that names the dispatch in its reports, as far as this scheduler knows. */
  isEchoKnown(id: string): boolean {
    return this.workers.get(id)?.echo?.isKnown === true;
  }

  /** A progress report of the worker counted and named its dispatch. */
  setNamesInProgress(id: string): void {
    const known = this.workers.get(id);
    if (known) known.namesInProgress = true;
  }

  /** Whether the worker names the dispatch in progress reports: its heartbeats say so, or one report did. */
  namesInProgress(id: string): boolean {
    const known = this.workers.get(id);
    return known?.namesInProgress === true || known?.picture.labels[dispatchEchoLabel] === 'true';
  }

  /** Boot ids of a worker's processes, '' for one that sends none. */
  processes(id: string): string[] {
    const known = this.workers.get(id);
    const hasBoot = known?.picture.labels[bootIdLabel] !== undefined;
    return [...(known?.boots ?? []), ...(hasBoot ? [] : [''])];
  }

  /** @param unlisted ids of jobs recorded with a worker that this heartbeat of it does not list */
  absence(beat: Heartbeat, unlisted: readonly string[], { replacedAtMs }: HeartbeatOutcome, nowMs: number): Absence {
    const isEvidence = this.reportsJobs(beat.worker_id) && isComplete(beat);
    return { sinceMs: this.absent.note(beat.worker_id, isEvidence ? unlisted : [], nowMs), replacedAtMs };
  }

  /** Workers that went silent while we could hear. */
  silent(nowMs: number): string[] {
    return [...this.workers].flatMap(([id, known]) => (this.isSilent(known, nowMs) ? [id] : []));
  }

  private isSilent({ lastSeenMs }: WorkerEntry, nowMs: number): boolean {
    return nowMs - Math.max(lastSeenMs, this.connectedSinceMs) > this.times.ttlMs;
  }

  /** Removes workers that went silent while we could hear; returns their ids. */
  expire(nowMs: number): string[] {
    const gone = this.silent(nowMs);
    for (const id of gone) {
      this.workers.delete(id);
      this.announced.delete(id);
      this.releasedEarly.delete(id);
      this.absent.forget(id);
    }
    return gone;
  }

  /** The bus is connected now. */
  isBusConnected(): boolean {
    return this.connectedSinceMs > 0 && this.connectedSinceMs !== Infinity;
  }

  /** How long a silence has to last to mean something. */
  get ttlMs(): number {
    return this.times.ttlMs;
  }

  /** Long enough connected that a worker we never heard of is not there. */
  isConnectedPastTtl(nowMs: number): boolean {
    return this.connectedSinceMs > 0 && nowMs - this.connectedSinceMs > this.times.ttlMs;
  }

  /** What workers said since then has had the time to reach us: we could hear all along, or can again for long enough. */
  hasReceivedAllSince(sinceMs: number, nowMs: number): boolean {
    return this.connectedSinceMs <= sinceMs || nowMs - this.connectedSinceMs > this.times.ttlMs;
  }

  has(id: string): boolean {
    return this.workers.has(id);
  }

  /** A dispatch (+1) or an end (-1) since the last heartbeat. */
  adjustActive(id: string, by: 1 | -1): void {
    const known = this.workers.get(id);
    if (known) known.active = Math.max(0, known.active + by);
    // The slot that was left is taken again: from now on heartbeats are right to count both.
    const [taken] = by === 1 ? (this.releasedEarly.get(id)?.keys() ?? []) : [];
    if (taken !== undefined) this.endEarlyRelease(id, taken);
  }

  /**
   * A job that must leave its slot to another at once, though its worker has time to end it: until something is given out
   * to the worker, heartbeats that still count the job do not take the slot back.
   */
  releaseEarly(workerId: string, jobId: string, untilMs: number): void {
    const jobs = this.releasedEarly.get(workerId) ?? new Map<string, number>();
    this.releasedEarly.set(workerId, jobs.set(jobId, untilMs));
    this.adjustActive(workerId, -1);
  }

  /** The worker has ended such a job. @returns whether it was one */
  endEarlyRelease(workerId: string, jobId: string): boolean {
    return this.releasedEarly.get(workerId)?.delete(jobId) ?? false;
  }

  private countReleasedEarly(workerId: string, nowMs: number): number {
    const jobs = this.releasedEarly.get(workerId);
    for (const [id, untilMs] of jobs ?? []) if (untilMs <= nowMs) jobs?.delete(id);
    if (jobs?.size === 0) this.releasedEarly.delete(workerId);
    return jobs?.size ?? 0;
  }

  /** Redis knows better: all slots of the worker are taken. */
  markFull(id: string): void {
    const known = this.workers.get(id);
    if (known) known.active = Math.max(known.active, known.picture.max_parallel_jobs);
  }

  /** Free slots; a worker that did not say how many it has offers a fixed handful. */
  freeSlots(id: string): number {
    const known = this.workers.get(id);
    return known && !known.picture.draining ? room(known) : 0;
  }

  /**
   * Workers that are live at this moment, whether or not silent ones have been removed yet.
   * See docs/reference/routing.md#selection.
   *
   * @param alsoId included although it is silent
   */
  routable(nowMs: number, alsoId?: string): RoutableWorker[] {
    return [...this.workers].flatMap(([id, known]) =>
      id === alsoId || !this.isSilent(known, nowMs) ? [this.toRoutable(known, nowMs)] : [],
    );
  }

  /** The same for one worker. */
  findRoutable(id: string, nowMs: number): RoutableWorker | undefined {
    const known = this.workers.get(id);
    return known && !this.isSilent(known, nowMs) ? this.toRoutable(known, nowMs) : undefined;
  }

  records(): WorkerRecord[] {
    return [...this.workers.values()].map(({ picture, active }) => ({ ...picture, active_jobs: active }));
  }

  /** Starts from the shared picture, so that a scheduler that comes up need not wait for every heartbeat. */
  warm(pictures: readonly WorkerRecord[], nowMs: number): void {
    for (const picture of pictures) {
      if (nowMs - picture.last_heartbeat_ms > this.times.ttlMs || this.workers.has(picture.worker_id)) continue;
      const { active_jobs, last_heartbeat_ms } = picture;
      this.workers.set(picture.worker_id, {
        picture,
        active: active_jobs,
        announcedAtMs: last_heartbeat_ms,
        lastSeenMs: last_heartbeat_ms,
        comparedAtMs: 0,
        boots: [picture.labels[bootIdLabel] ?? []].flat(),
      });
    }
  }

  private toRoutable({ picture, active, announcedAtMs }: WorkerEntry, nowMs: number): RoutableWorker {
    return {
      id: picture.worker_id,
      pool: picture.pool,
      active,
      maxParallel: picture.max_parallel_jobs,
      cpuLoad: picture.cpu_load,
      gpuLoad: picture.gpu_utilization,
      memoryLoad: picture.memory_load,
      capabilities: picture.capabilities,
      labels: picture.labels,
      readyTopics: picture.ready_topics,
      announced: nowMs - announcedAtMs <= this.times.readinessTtlMs,
      draining: picture.draining,
    };
  }
}

const DEFAULT_SLOTS = 16;
const room = ({ picture, active }: WorkerEntry): number =>
  picture.max_parallel_jobs > 0 ? Math.max(0, picture.max_parallel_jobs - active) : DEFAULT_SLOTS;

const toWorkerRecord = (beat: Heartbeat, announced: Announcement | undefined, nowMs: number): WorkerRecord => ({
  worker_id: beat.worker_id,
  pool: beat.pool,
  region: beat.region,
  type: beat.type,
  active_jobs: beat.active_jobs,
  max_parallel_jobs: Math.max(0, beat.max_parallel_jobs),
  capabilities: [...beat.capabilities],
  labels: { ...beat.labels },
  cpu_load: percent(beat.cpu_load),
  gpu_utilization: percent(beat.gpu_utilization),
  memory_load: percent(beat.memory_load),
  ready_topics: announced?.topics ?? [],
  last_heartbeat_ms: nowMs,
  agent_name: beat.agent_name.slice(0, 128),
  draining: announced?.draining ?? false,
});

// A worker that sends NaN or a negative load must not upset the order of the others.
const percent = (value: number): number => (Number.isFinite(value) ? Math.min(100, Math.max(0, value)) : 0);
