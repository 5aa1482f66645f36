import { jobCancelPacket, subjects } from '@svc/contract';
import type { DecisionRecord, JobRecord } from '@svc/store';
import { routingRules } from '@svc/settings';
import { dataUrlsFor, failJob } from '@svc/jobs';
import { dispatchIdentity, dispatchPacket, isApprovedInput, safetyFields, toConfigScope } from '@svc/decision';
import type { SchedulingDeps } from './scheduling-deps';
import { budgetOf, planDispatch } from './plan-dispatch';
import { preemptFor } from './preempt';
import { rollBack } from './roll-back';

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
  const { store, registry } = deps;
  const rules = await routingRules(deps);
  const config = await deps.config.at(toConfigScope(job, 'team'));
  const constraints = decision?.constraints ?? job.safety?.constraints;
  const { plan, needs, worker, isRepeat } = planDispatch(deps, job, { rules, config, constraints });
  const { dispatchId, runMs } = plan;
  const outcome = await store.jobs.admit(job.id, {
    ...plan,
    isRepeat,
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
  registry.moved(worker.id, 1);
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
 * Publishes a dispatch and notes that the worker has it. If we die in between, the record says DISPATCHED and the replayer
 * publishes again under the same message id, so the worker gets it once.
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
  // It runs from the moment it is on its way: an answer may be here before the bus has confirmed it.
  deps.inFlight.remember({ ...job, state: 'RUNNING', started_at: nowUs });
  let stored: { seq: number } | void;
  try {
    stored = await deps.bus.publishDurable(subject, packet);
  } catch (error) {
    deps.inFlight.forget(job.id);
    await rollBack(deps, job, error);
    return;
  }
  // A quick worker may have answered already: then this is refused, and rightly.
  const outcome = await deps.store.jobs.move('*', job.id, 'start', {
    dispatchId: job.dispatch_id,
    set: { started_at: nowUs, dispatch_seq: stored?.seq ?? 0 },
  });
  // It was ended or preempted between our write and our publish, and the word of that reached the worker before the job.
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

/** Ends a job that was claimed for a worker and must not be sent to it. No worker had it, so this attempt costs nothing. */
export async function refuseDispatch(
  deps: SchedulingDeps,
  job: JobRecord & { worker_id: string; dispatch_id: string },
  refusal: { code: string; message: string },
): Promise<void> {
  const ending = { event: 'fail', ...refusal, result: 'FAILED' } as const;
  const set = { cost: job.cost ?? 0 };
  if (!(await failJob(deps, job, ending, { dispatchId: job.dispatch_id, set }))) return;
  deps.registry.moved(job.worker_id, -1);
}

/** The most retries policy allows, when it says. */
export const retryCap = (job: JobRecord): number | undefined => {
  const value = (job.safety?.constraints?.['budgets'] as Record<string, unknown> | undefined)?.['max_retries'];
  return typeof value === 'number' ? value : undefined;
};

/** How long policy lets a job run, when it says; ms. */
export const runtimeCap = (job: Pick<JobRecord, 'safety'>): number | undefined =>
  budgetOf(job.safety?.constraints, 'max_runtime_ms');

/** Remaining running time, by the current record. */
export function runningFor(job: Pick<JobRecord, 'run_ms' | 'deadline_ms'>, nowMs: number): number {
  const left = job.deadline_ms > 0 ? job.deadline_ms - nowMs : Infinity;
  return Math.max(1, Math.min(job.run_ms ?? 900_000, left));
}
