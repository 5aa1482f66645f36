import { terminalStates } from '@svc/lifecycle';
import { otherLabel } from '@svc/runtime';
import { type JobRecord, type LimitRepair, newLimitRepair } from '@svc/store';
import { isRunOver } from '@svc/approvals';
import { deadlineFailure, failAndStop, publishIntent } from '@svc/jobs';
import { entryPriority } from './queue-entry';
import { publishDispatch } from './place-job';
import type { SchedulingDeps } from './scheduling-deps';
import { expireApproval, recheckWaiting, timeOutRunning, voidApproval } from './timers';
import { OpenJobCensus } from './open-job-census';
import { releaseLostWorker } from './workers';

const PAGE_SIZE = 200;
const MAX_PAGES = 10;
const PUBLISH_GRACE_US = 5_000_000;
/** Jobs changed more recently than this are being processed. */
const MIN_IDLE_US = 10_000_000;
const OVERDUE_GRACE_MS = 5_000;
const MAX_FAILURES = 3;

/**
 * Publishes the bus messages of jobs whose record was written but whose publish did not complete. Returns their number.
 */
export async function replayIntents(deps: SchedulingDeps): Promise<number> {
  const jobs = await deps.store.index.unpublished(deps.clock.nowUs() - PUBLISH_GRACE_US, PAGE_SIZE);
  // Concurrent, so that one failing publish delays no other and an unreachable bus costs a single timeout.
  const published = await Promise.all(
    jobs.map(async (job) => {
      try {
        await publishIntent(deps, job);
        deps.events.replayed(job.topic, 'intent');
        return true;
      } catch (error) {
        deps.events.publishFailed(job.id, error);
        return false;
      }
    }),
  );
  return published.filter((isPublished) => isPublished).length;
}

/** State of the repair between cycles. */
export interface RepairState {
  /** Failed repairs since this process started, by job; after three the job needs an operator. */
  failures: Map<string, number>;
  /** Where the last cycle stopped, by tenant, µs. */
  stoppedAtUs: Map<string, number>;
  census: OpenJobCensus;
  /** Where the last cycle stopped among the permissions of limits by key. */
  limits: LimitRepair;
}

export const newRepairState = (): RepairState => ({
  failures: new Map(),
  stoppedAtUs: new Map(),
  census: new OpenJobCensus(),
  limits: newLimitRepair(),
});

/**
 * Repairs idle open jobs that have no queue entry and so would never be processed. Usually finds none, because records and
 * entries are written atomically; it covers lost queues, restored backups and defects. A tenant with many jobs is walked
 * over several cycles. Returns the number of repaired jobs. See docs/reference/routing.md#repair.
 */
export async function repairOpenJobs(deps: SchedulingDeps, memory: RepairState = newRepairState()): Promise<number> {
  let repaired = 0;
  const tenants = await deps.store.index.tenants();
  for (const tenant of tenants) repaired += await repairTenant(deps, tenant, memory);
  deps.events.openJobs(memory.census.totals(tenants));
  return repaired;
}

async function repairTenant(deps: SchedulingDeps, tenant: string, memory: RepairState): Promise<number> {
  const { failures, stoppedAtUs, census } = memory;
  let repaired = 0;
  // Paged, because many healthy jobs may precede a broken one.
  let fromUs = stoppedAtUs.get(tenant) ?? 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const jobs = await deps.store.index.openBefore(tenant, deps.clock.nowUs() - MIN_IDLE_US, PAGE_SIZE, fromUs);
    for (const job of jobs) count(deps, job, census);
    for (const job of await findSuspects(deps, jobs)) if (await tryRepair(deps, job, failures)) repaired++;
    const last = jobs.at(-1);
    if (!last) {
      stoppedAtUs.delete(tenant);
      census.finish(tenant);
      return repaired;
    }
    fromUs = last.updated_at + 1;
  }
  stoppedAtUs.set(tenant, fromUs);
  return repaired;
}

function count({ clock, fleet }: SchedulingDeps, job: JobRecord, census: OpenJobCensus): void {
  const topic = Object.hasOwn(fleet.pools().topics, job.topic) ? job.topic : otherLabel;
  if (isOverdue(job, clock.nowMs())) census.add(job.tenant, 'stale', topic, job.state);
  if (job.parked === 'jobWaiting') census.add(job.tenant, 'waiting', topic, reasonLabel(job.waiting_reason ?? ''));
}

/** Without the name of the capability, which is free text. */
export const reasonLabel = (reason: string): string => reason.split(':', 1)[0] || 'unknown';

/** Excludes queued jobs that have a queue entry, in one batch of reads. */
async function findSuspects(deps: SchedulingDeps, jobs: readonly JobRecord[]): Promise<JobRecord[]> {
  const nowMs = deps.clock.nowMs();
  const isHealthy = await Promise.all(
    jobs.map(async (job) => {
      if (!isQueued(job) || isOverdue(job, nowMs)) return false;
      // A persistent error is reported by the repair of this job.
      return deps.store.jobs.hasQueueEntry(job).catch(() => false);
    }),
  );
  return jobs.filter((_, i) => !isHealthy[i]);
}

const isQueued = ({ state }: JobRecord): boolean => ['PENDING', 'RETRYING', 'SCHEDULED'].includes(state);
const isOverdue = ({ deadline_ms }: JobRecord, nowMs: number): boolean =>
  deadline_ms > 0 && deadline_ms + OVERDUE_GRACE_MS < nowMs;

/** A job that cannot be repaired does not prevent the repair of others. */
async function tryRepair(deps: SchedulingDeps, job: JobRecord, failures: Map<string, number>): Promise<boolean> {
  const failed = failures.get(job.id) ?? 0;
  if (failed >= MAX_FAILURES) return false;
  try {
    return await repair(deps, job);
  } catch (error) {
    failures.set(job.id, failed + 1);
    deps.events.repairFailed(job.id, error, MAX_FAILURES - failed - 1);
    return false;
  }
}

async function repair(deps: SchedulingDeps, job: JobRecord): Promise<boolean> {
  const nowMs = deps.clock.nowMs();
  if (isOverdue(job, nowMs)) {
    await failAndStop(deps, job, deadlineFailure);
    return reportRepair(deps, job, 'deadline');
  }
  switch (job.state) {
    case 'DISPATCHED':
      // Whether it was published is unknown: the same message id makes a repeat harmless.
      if (job.worker_id === undefined || job.dispatch_id === undefined) return false;
      await publishDispatch(deps, { ...job, worker_id: job.worker_id, dispatch_id: job.dispatch_id });
      return reportRepair(deps, job, 'dispatch');
    case 'RUNNING':
      return repairRunning(deps, job);
    case 'APPROVAL_REQUIRED':
      return repairApproval(deps, job);
    case 'PENDING':
    case 'RETRYING':
    case 'SCHEDULED':
      return repairQueued(deps, job);
    default:
      return false;
  }
}

async function repairApproval(deps: SchedulingDeps, job: JobRecord): Promise<boolean> {
  if (await isRunOver(deps, job)) {
    await voidApproval(deps, job);
    return reportRepair(deps, job, 'approval');
  }
  const heldMs = deps.clock.nowMs() - job.updated_at / 1_000;
  if (job.approval?.gate || heldMs < deps.settings.approvalTtlMs + OVERDUE_GRACE_MS) return false;
  await expireApproval(deps, job.id);
  return reportRepair(deps, job, 'approval');
}

async function repairRunning(deps: SchedulingDeps, job: JobRecord): Promise<boolean> {
  if (
    job.worker_id !== undefined &&
    !deps.registry.has(job.worker_id) &&
    deps.registry.isConnectedPastTtl(deps.clock.nowMs())
  ) {
    await releaseLostWorker(deps, job.worker_id);
    return reportRepair(deps, job, 'worker');
  }
  const overdue = deps.clock.nowMs() - (Math.max(job.progress_at ?? 0, job.updated_at) / 1_000 + (job.run_ms ?? 0));
  if (overdue < OVERDUE_GRACE_MS) return false;
  if ((await timeOutRunning(deps, job.id)) !== undefined) return false;
  return reportRepair(deps, job, 'running');
}

async function repairQueued(deps: SchedulingDeps, job: JobRecord): Promise<boolean> {
  if (await deps.store.jobs.hasQueueEntry(job)) return false;
  if (job.parked === 'jobWaiting' && !job.blocked) {
    await recheckWaiting(deps, job.id);
    return reportRepair(deps, job, 'waiting');
  }
  const isRequeued = await deps.store.jobs.requeue(job, `replay-${deps.clock.nowMs()}`, entryPriority(job));
  return isRequeued && reportRepair(deps, job, 'entry');
}

function reportRepair(deps: SchedulingDeps, job: JobRecord, what: string): true {
  deps.events.replayed(job.topic, what);
  return true;
}

/** Removes index rows of expired records, and old dead letters, except under a legal hold. Returns their number. */
export async function sweepExpired(deps: SchedulingDeps, metaTtlSec: number, deadLettersKept: number): Promise<number> {
  let removed = 0;
  const nowUs = deps.clock.nowUs();
  for (const tenant of await deps.store.index.tenants()) {
    if (await deps.store.legalHolds.isHeld(tenant)) continue;
    removed += await deps.store.index.prune(tenant, nowUs - metaTtlSec * 1e6, terminalStates);
    removed += await deps.store.deadLetters.trim(tenant, nowUs - deps.settings.deadLetterTtlSec * 1e6, deadLettersKept);
  }
  return removed;
}

/**
 * Releases slots that no in-flight job occupies, of known workers, of the license limit and of limits by key. Tenants need
 * none: their count derives from their in-flight jobs. Returns the number of released slots.
 * See docs/reference/routing.md#concurrency-limits.
 */
export async function repairSlots(
  { store, registry }: SchedulingDeps,
  { limits }: Pick<RepairState, 'limits'> = newRepairState(),
): Promise<number> {
  let freed = (await store.workers.freeLicenseSlots()) + (await store.limits.repair(limits));
  for (const { worker_id: id } of registry.records()) freed += await store.workers.freeWorkerSlots(id);
  return freed;
}
