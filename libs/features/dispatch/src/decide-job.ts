import { contextPointer, isGate, isStorePointer, limits, ownContextPointer } from '@svc/contract';
import type { JobEvent } from '@svc/lifecycle';
import { checkAgent, type PermittedAgent } from '@svc/agents';
import { type DecisionRecord, type JobRecord, toResolution } from '@svc/store';
import { budgetMessage, type BudgetRefusal, budgetWaitMs, reserveBudget } from '@svc/budget';
import { failureWrites, deadlineFailure, type JobFailure, failAndStop, transitionAndPublish } from '@svc/jobs';
import type { FailMode } from '@svc/settings';
import {
  approvalTimeMs,
  askAboutJob,
  holdWrites,
  inputHash,
  wasReported,
  policyPart,
  readPolicyContent,
  requestHash,
  safetyFields,
  toConfigScope,
  unreadableInput,
} from '@svc/decision';
import { checkQueuedJob } from '@svc/registry';
import { placeJob } from './place-job';
import { refuseAgent } from './refuse-agent';
import { delayToDeadline, queueEndsMs } from './queue-entry';
import type { SchedulingDeps } from './scheduling-deps';
import { queueTimeoutFailure } from './timers';

const unavailableRetryMs = 5_000;
const throttleRetryMs = 5_000;

/** Delay until the queue entry is processed again; undefined = done. */
export type RetryAfterMs = number | undefined;

/**
 * Asks policy about a job that was accepted, approved or is retried, and dispatches it or places it in a lane. Idempotent:
 * every write is conditional on the state that was read. See docs/architecture.md#the-path-of-a-job.
 */
export async function decideJob(deps: SchedulingDeps, id: string): Promise<RetryAfterMs> {
  const { store, clock } = deps;
  // Most inputs use their default key, so one round trip reads both.
  const [job, ownContext] = await Promise.all([
    store.jobs.load(id),
    store.data.context(ownContextPointer(id), limits.contextBytes),
  ]);
  if (!job || (job.state !== 'PENDING' && job.state !== 'RETRYING' && job.state !== 'SCHEDULED')) return undefined;
  if (job.lane !== '' || job.blocked) return undefined;
  deps.events.received(job.topic);
  if (job.deadline_ms > 0 && job.deadline_ms <= clock.nowMs()) return failAndStop(deps, job, deadlineFailure);
  if ((queueEndsMs(job) ?? Infinity) <= clock.nowMs()) return failAndStop(deps, job, queueTimeoutFailure(job));
  // Preempted attempts do not count.
  if (job.attempts - (job.preempted ?? 0) >= limits.schedulingAttempts) {
    return failAndStop(deps, job, {
      event: 'refuse',
      code: 'max_scheduling_retries',
      message: `dispatched ${job.attempts} times without a result`,
      result: 'FAILED',
    });
  }
  const rejection = await checkQueuedJob(deps, job);
  if (rejection) return failAndStop(deps, job, { event: 'refuse', ...rejection, result: 'FAILED' });
  const agent = await checkAgent(deps, job);
  if (agent?.kind === 'refused') return refuseAgent(deps, job, agent);
  const config = await deps.config.at(toConfigScope(job));
  const pointer = contextPointer(job);
  const context =
    pointer === ownContextPointer(id) ? ownContext : await store.data.context(pointer, limits.contextBytes);
  if (await isApproved(deps, job, context)) return proceed(deps, job, undefined, agent);

  const answer = await askAboutJob(deps, agent ? { ...job, facts: agent.facts } : job, {
    method: 'check',
    content: readPolicyContent(context),
    config,
    failMode: deps.settings.policyFailMode,
  });
  if (answer.kind === 'unavailable') return unavailable(deps, job, answer.failMode, agent);
  if (!wasReported(job.safety, answer.decision, job.decided)) deps.shadows.decided(answer);
  const { record: decision } = answer;
  switch (answer.decision.decision) {
    case 'ALLOW':
    case 'ALLOW_WITH_CONSTRAINTS':
      return proceed(deps, job, decision, agent);
    case 'DENY':
      deps.events.denied(job.topic);
      return deny(deps, job, decision);
    case 'REQUIRE_APPROVAL':
      return hold(deps, job, { ...decision, approval_ref: job.id }, context);
    case 'THROTTLE':
      return throttle(deps, job, decision, answer.decision.throttle_duration_ms ?? throttleRetryMs);
  }
}

/**
 * Labels alone are never enough: the stored approval must cover this request, this input and this policy.
 * See docs/reference/jobs.md#approvals.
 */
async function isApproved(deps: SchedulingDeps, job: JobRecord, context: Buffer | null): Promise<boolean> {
  const { approval } = job;
  if (!approval || toResolution(approval) !== 'approved' || approval.job_hash !== requestHash(job)) return false;
  if (approval.input_hash !== undefined && approval.input_hash !== inputHash(context)) return false;
  const [current] = await deps.kernel.listSnapshots().catch(() => [] as string[]);
  return policyPart(current ?? '') === policyPart(approval.policy_snapshot ?? '');
}

async function proceed(
  deps: SchedulingDeps,
  job: JobRecord,
  decision: DecisionRecord | undefined,
  agent: PermittedAgent | undefined,
): Promise<RetryAfterMs> {
  if (!isGate(job.topic)) {
    const refusal = await reserveBudget(deps, job);
    if (refusal) return overBudget(deps, job, decision, refusal);
    const isPlaced = await placeJob(deps, job, decision, agent?.fields);
    // The agent was changed after it was checked: it is checked again.
    return isPlaced ? undefined : 1;
  }
  // Gates are never routed; policy permitted this one without an approval.
  await transitionAndPublish(deps, job, 'succeed', {
    intent: JSON.stringify({ result: 'SUCCEEDED' }),
    ...(decision && { decision }),
  });
  return undefined;
}

async function deny(deps: SchedulingDeps, job: JobRecord, decision: DecisionRecord): Promise<RetryAfterMs> {
  // RETRYING has no transition to DENIED, because the job was dispatched before. See docs/reference/jobs.md#states.
  const event: JobEvent = job.state === 'RETRYING' ? 'refuse' : 'deny';
  const ending: JobFailure = {
    event,
    code: 'safety_denied',
    message: decision.reason ?? 'denied by policy',
    result: 'DENIED',
  };
  const extras = failureWrites(job, ending, deps.clock.nowUs(), deps.settings.deadLetterTtlSec);
  await transitionAndPublish(deps, job, event, {
    ...extras,
    set: { ...extras.set, ...safetyFields(decision) },
    decision,
  });
  return undefined;
}

async function hold(
  deps: SchedulingDeps,
  job: JobRecord,
  decision: DecisionRecord,
  context: Buffer | null,
): Promise<RetryAfterMs> {
  if (job.state !== 'PENDING') {
    return failAndStop(deps, job, {
      event: 'refuse',
      code: 'safety_denied',
      message: 'policy requires an approval, but the job was already dispatched',
      result: 'FAILED',
    });
  }
  const { clock, settings } = deps;
  const isReadable = isStorePointer(contextPointer(job));
  const { set, park } = holdWrites(decision, {
    nowUs: clock.nowUs(),
    timeLimitMs: approvalTimeMs(settings.approvalTtlMs, job.deadline_ms, clock.nowMs()),
    inputHash: () => (isReadable ? inputHash(context) : unreadableInput),
  });
  const revision = (job.approval?.revision ?? 0) + 1;
  await transitionAndPublish(deps, job, 'hold', {
    set: { approval: { ...set.approval, revision }, ...safetyFields(decision) },
    unset: ['waiting_reason'],
    park,
    decision,
  });
  return undefined;
}

async function throttle(
  deps: SchedulingDeps,
  job: JobRecord,
  decision: DecisionRecord,
  waitMs: number,
): Promise<RetryAfterMs> {
  deps.events.waiting(job.topic, 'throttled');
  await deps.store.jobs.note(
    job.id,
    { states: ['PENDING', 'RETRYING', 'SCHEDULED'] },
    { ...safetyFields(decision), waiting_reason: 'throttled' },
  );
  return delayToDeadline(deps, job, Math.max(1, waitMs));
}

async function overBudget(
  deps: SchedulingDeps,
  job: JobRecord,
  decision: DecisionRecord | undefined,
  { action, over }: BudgetRefusal,
): Promise<RetryAfterMs> {
  deps.events.overBudget(job.topic, action, over.limit);
  const set = { over_budget: over, ...(decision && safetyFields(decision)) };
  if (action === 'throttle') {
    deps.events.waiting(job.topic, 'budget');
    const waits = { ...set, waiting_reason: 'budget' };
    await deps.store.jobs.note(job.id, { states: ['PENDING', 'RETRYING', 'SCHEDULED'] }, waits);
    return delayToDeadline(deps, job, budgetWaitMs(over, deps.clock.nowMs()));
  }
  const event: JobEvent = job.state === 'RETRYING' ? 'refuse' : 'deny';
  const ending: JobFailure = { event, code: 'budget_exceeded', message: budgetMessage(over), result: 'DENIED' };
  return failAndStop(deps, job, ending, { set, ...(decision && { decision }) });
}

async function unavailable(
  deps: SchedulingDeps,
  job: JobRecord,
  mode: FailMode,
  agent: PermittedAgent | undefined,
): Promise<RetryAfterMs> {
  deps.events.safetyUnavailable(job.topic);
  if (mode === 'closed') {
    await deps.store.jobs.note(
      job.id,
      { states: ['PENDING', 'RETRYING', 'SCHEDULED'] },
      { waiting_reason: 'safety_unavailable' },
    );
    return delayToDeadline(deps, job, unavailableRetryMs);
  }
  deps.events.failOpen(job.topic);
  const decision: DecisionRecord = {
    decision: 'UNAVAILABLE',
    reason: 'policy did not answer; let through by fail mode open',
    job_hash: job.job_hash,
    checked_at: deps.clock.nowUs(),
    source: 'scheduler',
  };
  return proceed(deps, job, decision, agent);
}
