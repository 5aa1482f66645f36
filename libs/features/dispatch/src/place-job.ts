import type { DecisionRecord, DispatchedJob, JobRecord, ResultJob } from '@svc/store';
import { routingRules } from '@svc/settings';
import { type CancelledDeps, failJob, publishCancelled } from '@svc/jobs';
import { isApprovedInput, safetyFields, toConfigScope } from '@svc/decision';
import type { PermittedAgent } from '@svc/agents';
import type { SchedulingDeps } from './scheduling-deps';
import { getBudget, planDispatch } from './plan-dispatch';
import { preemptFor } from './preempt';
import { sendDispatch } from './send-dispatch';

/**
 * Dispatches a permitted job to a worker, or places it in a lane. See docs/architecture.md#the-path-of-a-job.
 *
 * @param decision to store with the job; undefined when it is stored already
 * @param agent fields of its agent, as it was checked
 * @returns false when an agent of the job has changed since
 */
export async function placeJob(
  deps: SchedulingDeps,
  job: JobRecord,
  decision: DecisionRecord | undefined,
  agent: PermittedAgent['fields'] | undefined,
): Promise<boolean> {
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
      ...agent,
    },
    ...(decision && { decision }),
  });
  if (outcome.kind === 'agent_changed') return false;
  if (outcome.kind !== 'missing' && outcome.cancelled) {
    await publishCancelled(toCancelledDeps(deps), outcome.cancelled);
  }
  if (outcome.kind === 'waiting') {
    deps.events.waiting(job.topic, outcome.reason);
    if (outcome.reason === 'pool_overloaded') await preemptFor(deps, job, needs);
    // A slot may have become free between the check and the write, when its wake-up found no waiting job.
    if (worker) deps.wake(worker.id);
  }
  if (outcome.kind !== 'dispatched' || !worker) return true;
  registry.adjustActive(worker.id, 1);
  await publishDispatch(deps, {
    ...job,
    ...(decision && { safety: decision }),
    attempts: outcome.attempt,
    worker_id: worker.id,
    dispatch_id: dispatchId,
    run_ms: runMs,
  });
  return true;
}

const toCancelledDeps = (deps: SchedulingDeps): CancelledDeps => ({
  ...deps,
  onCancelledByLimit: (limit) => deps.events.cancelledByLimit(limit),
  onPublishFailed: (jobId, error) => deps.events.publishFailed(jobId, error),
});

/**
 * Publishes a dispatch, unless the input of an approved job has changed. See `sendDispatch`.
 *
 * @param input the input document, if this process has it
 */
export async function publishDispatch(deps: SchedulingDeps, job: DispatchedJob, input?: string): Promise<void> {
  if (!job.approval) return sendDispatch(deps, job, input);
  // What was read before the check may be another document.
  return (await isApprovedInput(deps.store, job)) ? sendDispatch(deps, job) : refuseDispatch(deps, job, inputChanged);
}

const inputChanged = {
  code: 'input_changed',
  message: 'the input document changed after people approved the job; submit it again',
};

/** Fails a job that was claimed for a worker but must not be sent to it. The attempt has no cost. */
export async function refuseDispatch(
  deps: SchedulingDeps,
  job: DispatchedJob,
  refusal: { code: string; message: string },
): Promise<void> {
  const ending = { event: 'fail', ...refusal, result: 'FAILED' } as const;
  const set = { cost: job.cost ?? 0 };
  if (!(await failJob(deps, job, ending, { dispatchId: job.dispatch_id, set }))) return;
  deps.registry.adjustActive(job.worker_id, -1);
}

/** Maximum number of retries set by policy, if any. */
export const retryCap = (job: Pick<ResultJob, 'safety'>): number | undefined => {
  const value = (job.safety?.constraints?.['budgets'] as Record<string, unknown> | undefined)?.['max_retries'];
  return typeof value === 'number' ? value : undefined;
};

/** Maximum running time set by policy, if any; ms. */
export const runtimeCap = (job: Pick<JobRecord, 'safety'>): number | undefined =>
  getBudget(job.safety?.constraints, 'max_runtime_ms');

/** Remaining running time, by the current record. */
export function remainingRunMs(job: Pick<JobRecord, 'run_ms' | 'deadline_ms'>, nowMs: number): number {
  const left = job.deadline_ms > 0 ? job.deadline_ms - nowMs : Infinity;
  return Math.max(1, Math.min(job.run_ms ?? 900_000, left));
}
