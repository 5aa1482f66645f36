import { jobCancelPacket, subjects } from '@svc/contract';
import { awaitedWorker, chooseWorker, toLane, levels, toRoutingNeeds, timeoutsFor, waitingReason } from '@svc/routing';
import type { DecisionRecord, JobRecord } from '@svc/store';
import { routingRules, turnCost } from '@svc/settings';
import { dataUrlsFor, failJob } from '@svc/jobs';
import {
  dispatchIdentity,
  dispatchPacket,
  isApprovedInput,
  safetyFields,
  toConfigScope,
  toWorkflowStep,
} from '@svc/decision';
import type { SchedulingDeps } from './scheduling-deps';
import { preemptFor } from './preempt';
import { queueEndsMs } from './queue-entry';
import { rollBack } from './roll-back';

/** Upper bound of the time until a waiting job is checked again. */
const recheckMs = 10 * 60_000;

/**
 * Dispatches a permitted job to a worker, or places it in a lane. See docs/architecture.md#the-path-of-a-job.
 *
 * @param decision to store with the job; undefined when it is stored already
 */
export async function placeJob(
  deps: SchedulingDeps,
  job: JobRecord,
  decision: DecisionRecord | undefined,
): Promise<void> {
  const { store, clock, random, registry, fleet } = deps;
  const needs = toRoutingNeeds(job.topic, job.request.requires, job.request.labels);
  const { affinity } = job.request.labels;
  // A failed publish may still have reached the worker. The same worker gets the same dispatch again, and the bus or the
  // worker drops the duplicate; any other worker would execute it a second time.
  const undelivered = job.state === 'SCHEDULED' ? job.worker_id : undefined;
  const preferredWorkerId = undelivered ?? job.request.labels['preferred_worker_id'];
  const preferences = { ...(preferredWorkerId && { preferredWorkerId }), ...(affinity && { affinity }) };
  const rules = await routingRules(deps);
  const config = await deps.config.at(toConfigScope(job, 'team'));
  // Nothing is awaited between the liveness check and the write that dispatches. The holder of an undelivered dispatch is
  // exempt: it may have received the job, and until it is declared lost any other worker would run it a second time.
  const nowMs = clock.nowMs();
  const workers = registry.routable(nowMs, undelivered);
  const choice = chooseWorker(fleet.pools(), needs, preferences, workers, rules, () => random.number());
  const awaited = awaitedWorker(fleet.pools(), needs, preferences, workers, rules);
  const worker = choice.kind === 'worker' ? choice.worker : undefined;
  const isRepeat = worker !== undefined && worker.id === undelivered && job.dispatch_id !== undefined;
  const dispatchId = (isRepeat && job.dispatch_id) || random.uuid();
  const constraints = decision?.constraints ?? job.safety?.constraints;
  const runMs = computeRunMs(deps, job, constraints);
  const outcome = await store.jobs.admit(job.id, {
    lane: {
      ...toLane({ ...needs, ...(awaited && { preferredWorkerId: awaited }) }),
      level: levels[job.request.priority],
    },
    ...(worker && { worker: { id: worker.id, pool: worker.pool, max: worker.maxParallel } }),
    dispatchId,
    isRepeat,
    reason: choice.kind === 'none' ? waitingReason(choice) : 'pool_overloaded',
    runMs,
    deadlineMs: job.deadline_ms,
    tenantCap: budget(constraints, 'max_concurrent_jobs') ?? 0,
    turnCost: turnCost(config),
    licenseCap: licenseCap(deps),
    waitMs: computeWaitMs(deps, job, nowMs),
    set: {
      ...(decision && safetyFields(decision)),
      run_ms: runMs,
    },
    ...(decision && { decision }),
  });
  if (outcome.kind === 'waiting') {
    deps.events.waiting(job.topic, outcome.reason);
    if (outcome.reason === 'pool_overloaded') await preemptFor(deps, job, needs);
    // A slot may have become free between the check and the write, when its wake-up found no waiting job.
    if (worker) deps.wake(worker.id);
  }
  if (outcome.kind !== 'dispatched' || !worker) return;
  registry.adjustActive(worker.id, 1);
  await publishDispatch(deps, {
    ...job,
    ...(decision && { safety: decision }),
    attempts: outcome.attempt,
    worker_id: worker.id,
    dispatch_id: dispatchId,
    run_ms: runMs,
  });
}

/**
 * Publishes a dispatch and records the start of the job. After a crash in between, the record is DISPATCHED and the
 * reconciler publishes again with the same message id, so the worker receives it once.
 */
export async function publishDispatch(
  deps: SchedulingDeps,
  job: JobRecord & { worker_id: string; dispatch_id: string },
): Promise<void> {
  if (job.approval && !(await isApprovedInput(deps.store, job))) return refuseDispatch(deps, job, inputChanged);
  const nowUs = deps.clock.nowUs();
  const config = await deps.config.textAt(toConfigScope(job));
  const urls = dataUrlsFor(deps.dataUrls, job, deps.clock.nowMs());
  const { subject, packet } = dispatchPacket(job, deps.senderId, nowUs, config, urls);
  // Recorded as running before the publish: the result may arrive before the bus confirms it.
  deps.inFlight.remember({ ...job, state: 'RUNNING', started_at: nowUs });
  let stored: { seq: number } | void;
  try {
    stored = await deps.bus.publishDurable(subject, packet);
  } catch (error) {
    deps.inFlight.forget(job.id);
    await rollBack(deps, job, error);
    return;
  }
  // Refused if the result was handled already.
  const outcome = await deps.store.jobs.move('*', job.id, 'start', {
    dispatchId: job.dispatch_id,
    set: { started_at: nowUs, dispatch_seq: stored?.seq ?? 0 },
  });
  // The job was ended or preempted before this publish, so its cancel reached the worker before the dispatch did.
  if (outcome.kind === 'refused' && ['CANCELLED', 'TIMEOUT', 'RETRYING'].includes(outcome.state)) {
    const head = { trace_id: job.trace_id, sender_id: deps.senderId, nowUs: deps.clock.nowUs() };
    const cancel = {
      job_id: job.id,
      reason: 'taken back before it arrived',
      requested_by: deps.senderId,
      dispatch: dispatchIdentity(job),
    };
    await deps.bus.publish(subjects.jobCancel.name, jobCancelPacket(head, cancel));
  }
  deps.events.dispatched(job.topic, (nowUs - job.created_at) / 1_000);
}

const inputChanged = {
  code: 'input_changed',
  message: 'the input document changed after people approved the job; submit it again',
};

/** Fails a job that was claimed for a worker but must not be sent to it. The attempt has no cost. */
export async function refuseDispatch(
  deps: SchedulingDeps,
  job: JobRecord & { worker_id: string; dispatch_id: string },
  refusal: { code: string; message: string },
): Promise<void> {
  const ending = { event: 'fail', ...refusal, result: 'FAILED' } as const;
  const set = { cost: job.cost ?? 0 };
  if (!(await failJob(deps, job, ending, { dispatchId: job.dispatch_id, set }))) return;
  deps.registry.adjustActive(job.worker_id, -1);
}

const budget = (constraints: Record<string, unknown> | undefined, name: string): number | undefined => {
  const value = (constraints?.['budgets'] as Record<string, unknown> | undefined)?.[name];
  return typeof value === 'number' && value > 0 ? value : undefined;
};

/** Maximum number of retries set by policy, if any. */
export const retryCap = (job: JobRecord): number | undefined => {
  const value = (job.safety?.constraints?.['budgets'] as Record<string, unknown> | undefined)?.['max_retries'];
  return typeof value === 'number' ? value : undefined;
};

/** Maximum running time set by policy, if any; ms. */
export const runtimeCap = (job: Pick<JobRecord, 'safety'>): number | undefined =>
  budget(job.safety?.constraints, 'max_runtime_ms');

/** Running time of one dispatch: up to the deadline if there is one, otherwise the running timeout; policy may lower it. */
function computeRunMs(deps: SchedulingDeps, job: JobRecord, constraints: Record<string, unknown> | undefined): number {
  const { runningMs } = timeoutsFor(deps.fleet.timeouts(), job.topic, toWorkflowStep(job).workflow);
  const remaining = job.deadline_ms > 0 ? Math.max(1, job.deadline_ms - deps.clock.nowMs()) : runningMs;
  return Math.min(budget(constraints, 'max_runtime_ms') ?? Infinity, remaining);
}

/** Remaining running time, by the current record. */
export function remainingRunMs(job: Pick<JobRecord, 'run_ms' | 'deadline_ms'>, nowMs: number): number {
  const left = job.deadline_ms > 0 ? job.deadline_ms - nowMs : Infinity;
  return Math.max(1, Math.min(job.run_ms ?? 900_000, left));
}

function computeWaitMs(deps: SchedulingDeps, job: JobRecord, nowMs: number): number {
  const { maxPendingMs } = timeoutsFor(deps.fleet.timeouts(), job.topic, toWorkflowStep(job).workflow);
  const ends = [
    recheckMs,
    ...(job.deadline_ms > 0 ? [job.deadline_ms - nowMs] : []),
    ...(maxPendingMs === undefined ? [] : [job.created_at / 1_000 + maxPendingMs - nowMs]),
    ...(queueEndsMs(job) === undefined ? [] : [(queueEndsMs(job) ?? 0) - nowMs]),
  ];
  return Math.max(1, Math.ceil(Math.min(...ends)));
}

/** -1 and 0 mean no limit. */
export function licenseCap(deps: Pick<SchedulingDeps, 'license'>): number {
  return Math.max(0, deps.license().maxConcurrentJobs);
}
