import { type EndedBy, type GivesUp, type HeldBy, isGate, type Owner } from '@svc/contract';
import { timeoutsFor } from '@svc/routing';
import type { JobRecord } from '@svc/store';
import { queueEndsMs, remainingRunMs, runtimeCap } from '@svc/dispatch';
import { iso, type JobFacts, getStage } from './job-facts';
import { budgetOwner } from './check-budget';
import { ruleOwner } from './check-policy';
import { toWorkflowStep } from '@svc/decision';

interface End {
  atMs: number;
  as: 'TIMEOUT' | 'DENIED';
  owner: Owner;
}

/** When and why the job ends by itself if nothing else happens. See docs/reference/jobs.md#deadlines-and-time-outs. */
export function findGiveUp(facts: JobFacts): GivesUp | null {
  const ends = listEnds(facts).sort((a, b) => a.atMs - b.atMs);
  const [first] = ends;
  return first ? { at: iso(first.atMs), as: first.as, owner: first.owner } : null;
}

function listEnds(facts: JobFacts): End[] {
  const { job } = facts;
  const deadline: End[] = job.deadline_ms > 0 ? [{ atMs: job.deadline_ms, as: 'TIMEOUT', owner: deadlineOwner(facts) }] : [];
  switch (getStage(job)) {
    case 'ended':
      return [];
    case 'held':
      return [...deadline, ...approvalEnd(facts)];
    case 'dispatched':
      return [...deadline, ...runningEnds(facts)];
    case 'queued':
      return [...deadline, ...queueEnd(facts)];
    case 'waiting':
      return [...deadline, ...queueEnd(facts), ...pendingEnd(facts)];
  }
} // prettier-ignore

const deadlineOwner = ({ job }: JobFacts): Owner => ({
  kind: 'request',
  id: 'deadline_ms',
  value: job.request.deadline_ms,
});

function approvalEnd({ job, position, settings }: JobFacts): End[] {
  // Approvals of older versions have no expiry of their own; a gate is ended by its run.
  const parkedMs = isGate(job.topic) ? undefined : position.entry.dueMs;
  const expiresAt = job.approval?.expires_at;
  const atMs = expiresAt === undefined ? parkedMs : expiresAt / 1_000;
  // An entry due at the deadline is the deadline entry.
  if (atMs === undefined || (job.deadline_ms > 0 && atMs >= job.deadline_ms - 1)) return [];
  const owner: Owner = { kind: 'setting', id: 'SVC_APPROVAL_TTL', value: `${settings.approvalTtlMs / 1_000}s` };
  return [{ atMs, as: 'DENIED', owner }];
}

function queueEnd({ job }: JobFacts): End[] {
  const atMs = queueEndsMs(job);
  const owner: Owner = { kind: 'request', id: 'queue_ttl_ms', value: job.request.queue_ttl_ms ?? 0 };
  return atMs === undefined ? [] : [{ atMs, as: 'TIMEOUT', owner }];
}

function pendingEnd(facts: JobFacts): End[] {
  const { job } = facts;
  const { maxPendingMs } = timeoutsFor(facts.timeouts, job.topic, toWorkflowStep(job).workflow);
  if (maxPendingMs === undefined) return [];
  const atMs = job.created_at / 1_000 + maxPendingMs;
  return [{ atMs, as: 'TIMEOUT', owner: timeoutOwner('max_pending_seconds', maxPendingMs) }];
}

const timeoutOwner = (id: string, ms: number): Owner => ({ kind: 'setting', id: `timeouts.yaml: ${id}`, value: ms / 1_000 }); // prettier-ignore

/** As the timer of a running job computes it: progress renews the running timeout, not the limit of policy. */
function runningEnds(facts: JobFacts): End[] {
  const { job } = facts;
  const dispatchedMs = (job.dispatched_at ?? 0) / 1_000;
  const fromMs = Math.max(job.progress_at ?? 0, job.dispatched_at ?? 0) / 1_000;
  const runMs = remainingRunMs({ ...job, deadline_ms: 0 }, fromMs);
  const cap = runtimeCap(job);
  const runs: End = { atMs: fromMs + runMs, as: 'TIMEOUT', owner: timeoutOwner('running_timeout_seconds', runMs) };
  if (cap === undefined) return [runs];
  return [runs, { atMs: dispatchedMs + cap, as: 'TIMEOUT', owner: { ...ruleOwner(job.safety), value: cap } }];
}

/** The worker that runs it, and its last heartbeat or progress. */
export function findHolder({ job, workers }: JobFacts): HeldBy | undefined {
  if (getStage(job) !== 'dispatched') return undefined;
  const { worker_id = '', pool = '', dispatched_at = 0, progress_at = 0 } = job;
  const heartbeatMs = workers.find(({ id }) => id === worker_id)?.lastHeartbeatMs ?? 0;
  const lastMs = Math.max(heartbeatMs, Math.max(progress_at, dispatched_at) / 1_000);
  return { worker_id, pool, since: iso(dispatched_at / 1_000), last_sign_of_life: iso(lastMs) };
}

/** How it ended, and who or what ended it. */
export function explainEnd(facts: JobFacts): EndedBy | undefined {
  const { job } = facts;
  if (getStage(job) !== 'ended') return undefined;
  const at = job.completed_at === undefined ? null : iso(job.completed_at / 1_000);
  const code = job.error_code ?? job.state.toLowerCase();
  return { at, code, what: describeEnd(facts), owner: findEndOwner(facts, code) };
}

function describeEnd({ job }: JobFacts): string {
  const by = job.worker_id ? ` on ${job.worker_id}` : '';
  if (job.state === 'SUCCEEDED') return job.worker_id ? `completed by ${job.worker_id}` : 'it was approved';
  if (wasCancelledByCaller(job)) return `a caller cancelled it${by}`;
  return job.error_message ?? `it ended ${job.state}${by}`;
}

/** A cancellation that a worker reports has an error code. */
const wasCancelledByCaller = ({ state, error_code }: JobRecord): boolean =>
  state === 'CANCELLED' && error_code === undefined;

function findEndOwner(facts: JobFacts, code: string): Owner {
  const { job } = facts;
  const worker: Owner = { kind: 'worker', id: job.worker_id ?? '' };
  switch (code) {
    case 'policy_denied':
    case 'safety_denied':
      return ruleOwner(job.safety);
    case 'budget_exceeded':
      return job.over_budget ? budgetOwner(job.over_budget) : { kind: 'setting', id: 'budget' };
    case 'approval_rejected':
      return { kind: 'approval', id: job.id, value: job.approval?.resolved_by ?? '' };
    case 'approval_expired':
      return { kind: 'setting', id: 'SVC_APPROVAL_TTL', value: `${facts.settings.approvalTtlMs / 1_000}s` };
    case 'unknown_topic':
    case 'topic_disabled':
      return { kind: 'topic', id: job.topic };
    case 'max_scheduling_retries':
      return { kind: 'limit', id: 'scheduling attempts', value: job.attempts };
    case 'max_retries_exceeded':
      return { kind: 'setting', id: 'retry.max_retries', value: job.retry_count };
    case 'timeout':
      return findTimeoutOwner(facts);
    default:
      break;
  }
  if (job.state === 'OUTPUT_QUARANTINED') return { kind: 'policy_rule', id: job.output_safety?.rule_id ?? '' };
  if (/schema/.test(code)) return { kind: 'topic', id: job.topic };
  if (wasCancelledByCaller(job)) return { kind: 'caller', id: '' };
  if (job.worker_id) return worker;
  return job.state === 'SUCCEEDED' ? { kind: 'approval', id: job.id } : { kind: 'service', id: 'scheduler' };
} // prettier-ignore

/** The setting behind a timeout, from the message that the timers write. */
function findTimeoutOwner(facts: JobFacts): Owner {
  const { job } = facts;
  const text = job.error_message ?? '';
  const { maxPendingMs } = timeoutsFor(facts.timeouts, job.topic, toWorkflowStep(job).workflow);
  if (text.startsWith('timeout: deadline')) return deadlineOwner(facts);
  if (text.includes('queue_ttl_ms')) return { kind: 'request', id: 'queue_ttl_ms', value: job.request.queue_ttl_ms ?? 0 };
  if (text.startsWith('timeout: no worker within')) return timeoutOwner('max_pending_seconds', maxPendingMs ?? 0);
  if (text.startsWith('timeout: the worker did not answer'))
    return runtimeCap(job) === undefined ? timeoutOwner('running_timeout_seconds', job.run_ms ?? 0) : ruleOwner(job.safety);
  return { kind: 'worker', id: job.worker_id ?? '' };
} // prettier-ignore
