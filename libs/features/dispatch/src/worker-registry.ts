import type { Handshake, Heartbeat } from '@svc/contract';
import { bootIdLabel, dispatchEchoLabel, workerIdPattern } from '@svc/contract';
import type { RoutableWorker } from '@svc/routing';
import { LIVE_WORKER_RENEWAL_MS, type WorkerRecord } from '@svc/store';
import type { WorkerScope } from '@svc/worker-trust';
import { type Absence, AbsentJobs, isComplete } from './absent-jobs';
import { type AbilityLabel, AnnouncedAbilities } from './announced-abilities';

interface WorkerEntry {
  record: WorkerRecord;
  /** Jobs it runs: the count of its last heartbeat, adjusted by each dispatch and result since. */
  active: number;
  announcedAtMs: number;
  lastSeenMs: number;
  /** When its heartbeat was last compared with the jobs recorded with it. */
  comparedAtMs: number;
  /** When its record in Redis was last renewed; 0 = not by this process. */
  renewedAtMs: number;
  /** Boot ids of its processes, oldest first. */
  boots: readonly string[];
  /** Boot id of a draining process, which finishes its jobs although its successor runs already. */
  drainingBoot?: string | undefined;
  /** Whether its reports have dispatch ids: the record in Redis for this process, as of `atMs`. */
  echo?: { isKnown: boolean; boot: string; atMs: number } | undefined;
  /** It has sent a progress report with a dispatch id since this scheduler started. */
  namesInProgress?: boolean | undefined;
}

interface Announcement {
  topics: string[];
  draining: boolean;
  reportsJobs: boolean;
  atMs: number;
}

/** Per worker; more processes than ever run concurrently. */
const MAX_BOOTS = 8;
const COMPARE_INTERVAL_MS = 1_000;
/** The record survives the loss of a few heartbeats. */
const ECHO_RENEWALS_PER_TTL = 3;

export interface RegistryTimes {
  /** Time after its last heartbeat at which a worker expires. */
  ttlMs: number;
  /** Time after its last handshake for which it counts as ready. */
  readinessTtlMs: number;
}

export interface HeartbeatOutcome {
  kind: 'new' | 'known';
  /** It has more free slots than before. */
  freed: boolean;
  /** Last heartbeat of the previous process; set on the first heartbeat of its successor. */
  replacedAtMs?: number;
}

/**
 * Reason a heartbeat is ignored regardless of the license, or undefined.
 * See docs/reference/worker-protocol.md#heartbeat.
 */
export function findHeartbeatRefusal(senderId: string, { worker_id: id }: Heartbeat): string | undefined {
  if (!workerIdPattern.test(id)) return 'worker id has characters a subject cannot hold';
  return senderId === id ? undefined : 'sender_id_mismatch';
}

/**
 * Live workers, from the heartbeats this scheduler receives. Each replica builds its own registry from the same broadcast.
 * Redis limits the slots, so a stale entry can only delay a job.
 */
export class WorkerRegistry {
  private readonly workers = new Map<string, WorkerEntry>();
  /** Last handshakes; one may arrive before the first heartbeat. */
  private readonly announced = new Map<string, Announcement>();
  private readonly absent = new AbsentJobs();
  private readonly abilities = new AnnouncedAbilities();
  /** Jobs that are being stopped and whose slot is already free, by worker, with the end of that grace period, unix ms. */
  private readonly releasedEarly = new Map<string, Map<string, number>>();
  private connectedSinceMs = 0;
  /** Number of workers removed so far. */
  removals = 0;
  private findScope: (id: string) => WorkerScope | undefined = () => undefined;

  constructor(private readonly times: RegistryTimes) {}

  /** Limits workers to what their credentials permit. */
  restrict(findScope: (id: string) => WorkerScope | undefined): void {
    this.findScope = findScope;
  }

  /** What the credential of a worker permits; undefined = everything. */
  scopeOf(id: string): WorkerScope | undefined {
    return this.findScope(id);
  }

  /** Tenant whose jobs the worker may run; undefined = all tenants. */
  tenantOf(id: string): string | undefined {
    return this.scopeOf(id)?.tenant;
  }

  /** Whether a worker may run, and report on, the jobs of a tenant. */
  serves(id: string, tenant: string): boolean {
    const only = this.tenantOf(id);
    return only === undefined || only === tenant;
  }

  /** Restarts the TTL of all workers: heartbeats may have been lost before the bus was connected. */
  busConnected(nowMs: number): void {
    this.connectedSinceMs = nowMs;
  }

  /** Suspends expiry: no worker expires while the bus is disconnected. */
  busDisconnected(): void {
    this.connectedSinceMs = Infinity;
  }

  heartbeat(beat: Heartbeat, nowMs: number): HeartbeatOutcome {
    const before = this.workers.get(beat.worker_id);
    const announced = this.announced.get(beat.worker_id);
    const record = toWorkerRecord(beat, announced, nowMs);
    const hadSlots = before ? countFreeSlots(before) : 0;
    record.reports_jobs =
      before?.record.reports_jobs === true || announced?.reportsJobs === true || beat.active_jobs > 0;
    const boot = beat.labels[bootIdLabel];
    const boots = before?.boots ?? [];
    const isNewBoot = boot !== undefined && !boots.includes(boot);
    const after: WorkerEntry = {
      record,
      boots: isNewBoot ? [...boots, boot].slice(-MAX_BOOTS) : boots,
      drainingBoot: before?.drainingBoot,
      active: Math.max(0, beat.active_jobs - this.countReleasedEarly(beat.worker_id, nowMs)),
      announcedAtMs: announced?.atMs ?? 0,
      lastSeenMs: nowMs,
      comparedAtMs: before?.comparedAtMs ?? 0,
      // A worker without an entry was added to Redis just now.
      renewedAtMs: before?.renewedAtMs ?? nowMs,
      echo: before?.echo,
      namesInProgress: before?.namesInProgress,
    };
    this.workers.set(beat.worker_id, after);
    this.abilities.note(beat, nowMs);
    // Routing skipped a silent worker, so its return must trigger dispatching again.
    const isKnown = before !== undefined && !this.isSilent(before, nowMs);
    const wasReplaced = isNewBoot && boots.length > 0 && before?.drainingBoot !== boots.at(-1);
    return {
      kind: isKnown ? 'known' : 'new',
      freed: countFreeSlots(after) > hadSlots,
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
    known.record.ready_topics = state.topics;
    known.record.draining = state.draining;
    if (state.draining) known.drainingBoot = known.boots.at(-1);
  }

  /** Whether its heartbeats count running jobs; those of other workers are no evidence of lost jobs. */
  reportsJobs(id: string): boolean {
    return this.workers.get(id)?.record.reports_jobs === true;
  }

  /** Whether to compare this heartbeat with the recorded jobs; bounds the Redis reads caused by frequent heartbeats. */
  startComparison(id: string, nowMs: number): boolean {
    const known = this.workers.get(id);
    if (!known?.record.reports_jobs || nowMs - known.comparedAtMs < COMPARE_INTERVAL_MS) return false;
    known.comparedAtMs = nowMs;
    return true;
  }

  /** Whether the record of a live worker in Redis is to be renewed now. */
  startRenewal(id: string, nowMs: number): boolean {
    const known = this.workers.get(id);
    if (!known || nowMs - known.renewedAtMs < LIVE_WORKER_RENEWAL_MS) return false;
    known.renewedAtMs = nowMs;
    return true;
  }

  /** Whether this process of a worker has no echo record that this registry knows of. */
  isEchoNew(id: string, boot: string): boolean {
    return this.workers.get(id)?.echo?.boot !== boot;
  }

  /** Whether the echo record of this worker in Redis is due for renewal. */
  isEchoDue(id: string, boot: string, nowMs: number): boolean {
    const echo = this.workers.get(id)?.echo;
    return echo?.boot === boot && nowMs - echo.atMs >= this.times.ttlMs / ECHO_RENEWALS_PER_TTL;
  }

  /** Caches the echo record that Redis returned for a process. */
  setEcho(id: string, isKnown: boolean, boot: string, nowMs: number): void {
    const known = this.workers.get(id);
    if (known) known.echo = { isKnown, boot, atMs: nowMs };
  }

  /** Whether the worker is known to this scheduler to send dispatch ids in its reports. */
  isEchoKnown(id: string): boolean {
    return this.workers.get(id)?.echo?.isKnown === true;
  }

  /** A valid progress report of the worker had a dispatch id. */
  setNamesInProgress(id: string): void {
    const known = this.workers.get(id);
    if (known) known.namesInProgress = true;
  }

  /** Whether the worker sends dispatch ids in progress reports: announced in its heartbeats, or seen in a report. */
  namesInProgress(id: string): boolean {
    const known = this.workers.get(id);
    return known?.namesInProgress === true || known?.record.labels[dispatchEchoLabel] === 'true';
  }

  /** Whether every process of the worker that a dispatch may reach announces an ability. */
  announces(id: string, label: AbilityLabel, nowMs: number): boolean {
    return this.abilities.has(id, label, nowMs - this.times.ttlMs);
  }

  /** Whether any process of the worker that a dispatch may reach announces an ability. */
  mayHave(id: string, label: AbilityLabel, nowMs: number): boolean {
    const isRecorded = this.workers.get(id)?.record.labels[label] === 'true';
    return isRecorded || this.abilities.hasAny(id, label, nowMs - this.times.ttlMs);
  }

  /** Boot ids of a worker's processes, '' for one without. */
  processes(id: string): string[] {
    const known = this.workers.get(id);
    const hasBoot = known?.record.labels[bootIdLabel] !== undefined;
    return [...(known?.boots ?? []), ...(hasBoot ? [] : [''])];
  }

  /** @param unlisted ids of jobs recorded with the worker that its heartbeat does not list */
  absence(beat: Heartbeat, unlisted: readonly string[], { replacedAtMs }: HeartbeatOutcome, nowMs: number): Absence {
    const isEvidence = this.reportsJobs(beat.worker_id) && isComplete(beat);
    return { sinceMs: this.absent.note(beat.worker_id, isEvidence ? unlisted : [], nowMs), replacedAtMs };
  }

  /** Workers without a heartbeat for the TTL while the bus was connected. */
  silent(nowMs: number): string[] {
    return [...this.workers].flatMap(([id, known]) => (this.isSilent(known, nowMs) ? [id] : []));
  }

  private isSilent({ lastSeenMs }: WorkerEntry, nowMs: number): boolean {
    return nowMs - Math.max(lastSeenMs, this.connectedSinceMs) > this.times.ttlMs;
  }

  /** Removes silent workers and returns their ids. */
  expire(nowMs: number): string[] {
    const gone = this.silent(nowMs);
    for (const id of gone) this.remove(id);
    return gone;
  }

  /** Removes a worker that is gone, or that may not run jobs any more. */
  remove(id: string): void {
    this.removals += 1;
    this.workers.delete(id);
    this.announced.delete(id);
    this.releasedEarly.delete(id);
    this.absent.forget(id);
    this.abilities.forget(id);
  }

  isBusConnected(): boolean {
    return this.connectedSinceMs > 0 && this.connectedSinceMs !== Infinity;
  }

  /** Time without a heartbeat after which a worker is silent. */
  get ttlMs(): number {
    return this.times.ttlMs;
  }

  /** Connected for longer than the TTL, so a worker that is not in the registry is not live. */
  isConnectedPastTtl(nowMs: number): boolean {
    return this.connectedSinceMs > 0 && nowMs - this.connectedSinceMs > this.times.ttlMs;
  }

  /** Whether everything that workers published since then has had time to arrive. */
  hasReceivedAllSince(sinceMs: number, nowMs: number): boolean {
    return this.connectedSinceMs <= sinceMs || nowMs - this.connectedSinceMs > this.times.ttlMs;
  }

  has(id: string): boolean {
    return this.workers.has(id);
  }

  /** Adjusts the count of the last heartbeat for a dispatch (+1) or an end (-1). */
  adjustActive(id: string, by: 1 | -1): void {
    const known = this.workers.get(id);
    if (known) known.active = Math.max(0, known.active + by);
    // The freed slot is in use again, so heartbeats that count both jobs are correct from here on.
    const [taken] = by === 1 ? (this.releasedEarly.get(id)?.keys() ?? []) : [];
    if (taken !== undefined) this.endEarlyRelease(id, taken);
  }

  /**
   * Frees the slot of a job that is being stopped, before its worker has ended it. Heartbeats that still count the job do
   * not occupy the slot again until the next dispatch to this worker.
   */
  releaseEarly(workerId: string, jobId: string, untilMs: number): void {
    const jobs = this.releasedEarly.get(workerId) ?? new Map<string, number>();
    this.releasedEarly.set(workerId, jobs.set(jobId, untilMs));
    this.adjustActive(workerId, -1);
  }

  /** The worker has ended the job. @returns whether its slot had been freed early */
  endEarlyRelease(workerId: string, jobId: string): boolean {
    return this.releasedEarly.get(workerId)?.delete(jobId) ?? false;
  }

  private countReleasedEarly(workerId: string, nowMs: number): number {
    const jobs = this.releasedEarly.get(workerId);
    for (const [id, untilMs] of jobs ?? []) if (untilMs <= nowMs) jobs?.delete(id);
    if (jobs?.size === 0) this.releasedEarly.delete(workerId);
    return jobs?.size ?? 0;
  }

  /** Redis reports that all slots of the worker are in use. @param ends ends of its jobs that are not subtracted yet */
  markFull(id: string, ends = 0): void {
    const known = this.workers.get(id);
    if (known) known.active = Math.max(known.active, known.record.max_parallel_jobs + ends);
  }

  /** Free slots; a fixed number for a worker that does not announce its capacity. */
  freeSlots(id: string): number {
    const known = this.workers.get(id);
    return known && !known.record.draining ? countFreeSlots(known) : 0;
  }

  /**
   * Workers that are live now; silent ones are excluded even if they have not been removed yet.
   * See docs/reference/routing.md#selection.
   *
   * @param alsoId worker to include even if it is silent
   */
  routable(nowMs: number, alsoId?: string): RoutableWorker[] {
    return [...this.workers].flatMap(([id, known]) =>
      id === alsoId || !this.isSilent(known, nowMs) ? [this.toRoutable(known, nowMs)] : [],
    );
  }

  /** A worker, if it is live. */
  findRoutable(id: string, nowMs: number): RoutableWorker | undefined {
    const known = this.workers.get(id);
    return known && !this.isSilent(known, nowMs) ? this.toRoutable(known, nowMs) : undefined;
  }

  records(): WorkerRecord[] {
    return [...this.workers.values()].map(({ record, active }) => ({ ...record, active_jobs: active }));
  }

  /** Starts from the shared snapshot, so that a restarted scheduler need not wait for every heartbeat. */
  warm(records: readonly WorkerRecord[], nowMs: number): void {
    for (const record of records) {
      if (nowMs - record.last_heartbeat_ms > this.times.ttlMs || this.workers.has(record.worker_id)) continue;
      const { active_jobs, last_heartbeat_ms } = record;
      this.workers.set(record.worker_id, {
        record,
        active: active_jobs,
        announcedAtMs: last_heartbeat_ms,
        lastSeenMs: last_heartbeat_ms,
        comparedAtMs: 0,
        renewedAtMs: 0,
        boots: [record.labels[bootIdLabel] ?? []].flat(),
      });
    }
  }

  private toRoutable({ record, active, announcedAtMs }: WorkerEntry, nowMs: number): RoutableWorker {
    const scope = this.scopeOf(record.worker_id);
    return {
      id: record.worker_id,
      pool: record.pool,
      active,
      maxParallel: record.max_parallel_jobs,
      cpuLoad: record.cpu_load,
      gpuLoad: record.gpu_utilization,
      memoryLoad: record.memory_load,
      capabilities: record.capabilities,
      labels: record.labels,
      readyTopics: record.ready_topics,
      announced: nowMs - announcedAtMs <= this.times.readinessTtlMs,
      draining: record.draining,
      ...(scope && { scope }),
    };
  }
}

const DEFAULT_SLOTS = 16;
const countFreeSlots = ({ record, active }: WorkerEntry): number =>
  record.max_parallel_jobs > 0 ? Math.max(0, record.max_parallel_jobs - active) : DEFAULT_SLOTS;

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

// A worker that reports NaN or a negative load must not distort the ranking of the others.
const percent = (value: number): number => (Number.isFinite(value) ? Math.min(100, Math.max(0, value)) : 0);
