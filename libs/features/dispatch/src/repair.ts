import { terminalStates } from '@svc/lifecycle';
import { otherLabel } from '@svc/runtime';
import type { JobRecord } from '@svc/store';
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
 * What was written and not yet said on the bus is said again. The replayer's first duty: the record is the truth, the bus
 * is rebuilt from it. Returns how many.
 */
export async function replayIntents(deps: SchedulingDeps): Promise<number> {
  const jobs = await deps.store.index.unpublished(deps.clock.nowUs() - PUBLISH_GRACE_US, PAGE_SIZE);
  // Side by side: one that cannot be published holds up no other, and with the bus down all give up at the same time.
  const said = await Promise.all(
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
  return said.filter((one) => one).length;
}

/** What the repair remembers from one round to the next. */
export interface RepairState {
  /** Repairs that failed since this process began, by job: after three the job is left to people. */
  failures: Map<string, number>;
  /** Where the last round stopped, by tenant, µs. */
  stoppedAtUs: Map<string, number>;
  census: OpenJobCensus;
}

export const newRepairState = (): RepairState => ({
  failures: new Map(),
  stoppedAtUs: new Map(),
  census: new OpenJobCensus(),
});

/**
 * Looks at the jobs that have not ended and were not touched lately, and mends what stands nowhere: no queue entry would
 * ever bring it forward. Normally finds nothing, since records and entries change together; it is for lost queues, restored
 * back-ups and defects. Of a tenant with a great many it looks at some each round, and goes on with the others in the next.
 * Returns how many it repaired. See docs/reference/routing.md#repair.
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
  // In pages: the jobs longest untouched may all be well, and stand before one that is not.
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

/** Without those of which one look, at all of them together, tells that a queue entry will bring them forward. */
async function findSuspects(deps: SchedulingDeps, jobs: readonly JobRecord[]): Promise<JobRecord[]> {
  const nowMs = deps.clock.nowMs();
  const isWell = await Promise.all(
    jobs.map(async (job) => {
      if (!isQueued(job) || isOverdue(job, nowMs)) return false;
      // Whatever keeps us from looking does so again when it is repaired, and is told there.
      return deps.store.jobs.hasQueueEntry(job).catch(() => false);
    }),
  );
  return jobs.filter((_, i) => !isWell[i]);
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
      return repairHeld(deps, job);
    case 'PENDING':
    case 'RETRYING':
    case 'SCHEDULED':
      return repairQueued(deps, job);
    default:
      return false;
  }
}

async function repairHeld(deps: SchedulingDeps, job: JobRecord): Promise<boolean> {
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
  if (job.parked === 'jobWaiting') {
    await recheckWaiting(deps, job.id);
    return reportRepair(deps, job, 'waiting');
  }
  const carried = await deps.store.jobs.requeue(job, `replay-${deps.clock.nowMs()}`, entryPriority(job));
  return carried && reportRepair(deps, job, 'entry');
}

function reportRepair(deps: SchedulingDeps, job: JobRecord, what: string): true {
  deps.events.replayed(job.topic, what);
  return true;
}

/** Drops index rows whose records have expired, and old dead letters. Returns how many went. */
export async function sweepExpired(deps: SchedulingDeps, metaTtlSec: number, deadLettersKept: number): Promise<number> {
  let gone = 0;
  const nowUs = deps.clock.nowUs();
  for (const tenant of await deps.store.index.tenants()) {
    gone += await deps.store.index.prune(tenant, nowUs - metaTtlSec * 1e6, terminalStates);
    gone += await deps.store.deadLetters.trim(tenant, nowUs - deps.settings.deadLetterTtlSec * 1e6, deadLettersKept);
  }
  return gone;
}

/**
 * Slots that were left behind, should one ever be: of the workers we know, and of the license's count. A tenant's count is
 * that of its jobs in flight. See docs/reference/routing.md#concurrency-limits. Returns how many were freed.
 */
export async function repairSlots({ store, registry }: SchedulingDeps): Promise<number> {
  let freed = await store.workers.freeLicenseSlots();
  for (const { worker_id: id } of registry.records()) freed += await store.workers.freeWorkerSlots(id);
  return freed;
}
