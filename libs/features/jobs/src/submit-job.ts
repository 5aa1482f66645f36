import { AppError, defaultSettings, type Caller, type SubmitBody } from '@svc/contract';
import type { Kernel } from '@svc/kernel-client';
import type { PolicyRequest } from '@svc/policy';
import { queuePriorities } from '@svc/routing';
import type { Acceptance, DecisionRecord, JobRecord } from '@svc/store';
import type { Base, LicenseLimits } from '@svc/platform';
import { type EffectiveConfig, failMode, type FailMode, numberAt } from '@svc/settings';
import type { Admission } from '@svc/admission';
import { checkJobBudget } from '@svc/budget';
import {
  askPolicy,
  decisionRecord,
  inputHash,
  isSettledAtOnce,
  type LiveDecision,
  policyPart,
  policyRequest,
  priorityOf,
  requestHash,
  type Shadows,
  type Verdict,
} from '@svc/decision';
import { admitTopic, type TopicDeps, withDeriver } from '@svc/registry';
import { badEnd } from './endings';
import { type FirstAnswer, readAnswer, requestFingerprint, type SubmitOutcome } from './idempotency';
import { memoryClaim } from './data/memory-owner';
import { checkMemoryAccess } from './memory-access';
import { type Normalized, normalizeRequest } from './normalize-request';

export interface SubmitDeps extends Base {
  kernel: Kernel;
  shadows: Shadows;
  config: EffectiveConfig;
  topics: TopicDeps;
  admission: Admission;
  license(): LicenseLimits;
  settings: {
    policyFailMode: 'closed' | 'open';
    idempotencyTtlSec: number;
    approvalTtlMs: number;
    deadLetterTtlSec: number;
    defaultDeadline: boolean;
  };
  /** Policy did not answer and the job was let in all the same. */
  onFailOpen(topic: string): void;
}

const policyTimeoutMs = 5_000;

/**
 * Accepts a job for REST, gRPC and the bus alike. The answer leaves after one atomic write holds the record and the queue
 * entry that carries it. See docs/reference/jobs.md#submit-a-job.
 *
 * @throws the codes of `submitJob` in the contract
 */
export async function submitJob(
  deps: SubmitDeps,
  caller: Caller,
  body: SubmitBody,
  idempotencyKey: string | undefined,
): Promise<SubmitOutcome> {
  const { random, clock, store, admission } = deps;
  const jobId = random.uuid();
  const traceId = jobId;
  const asked = normalizeRequest(
    body,
    caller,
    jobId,
    deps.license().maxPromptChars,
    new Date(clock.nowMs()).toISOString(),
  );
  if (idempotencyKey) asked.request.idempotency_key = idempotencyKey;
  await admitTopic(deps.topics, asked);

  const fingerprint = idempotencyKey ? requestFingerprint(body) : '';
  if (idempotencyKey) {
    const earlier = await store.jobs.reserved(asked.tenant, idempotencyKey);
    if (earlier) return readAnswer(earlier, fingerprint);
  }
  const config = await deps.config.at({ tenant: asked.tenant, team: asked.request.team_id });
  const priority = priorityOf(body.priority, config);
  asked.request.priority = priority;
  const context = JSON.stringify({ ...asked.document, priority });
  return admission.job(asked.tenant, Buffer.byteLength(context), () =>
    accept(deps, caller, { body, jobId, traceId, asked, config, context, idempotencyKey, fingerprint }),
  );
}

interface Submission {
  body: SubmitBody;
  jobId: string;
  traceId: string;
  asked: Normalized;
  /** Effective for its tenant and team. */
  config: Record<string, unknown> | undefined;
  /** The input document, JSON. */
  context: string;
  idempotencyKey: string | undefined;
  /** Of the request; '' without a key. */
  fingerprint: string;
}

async function accept(deps: SubmitDeps, caller: Caller, submission: Submission): Promise<SubmitOutcome> {
  const { clock, store } = deps;
  const { body, jobId, traceId, asked, config, context, idempotencyKey, fingerprint } = submission;
  const place = { tenant: asked.tenant, team: asked.request.team_id };
  const activeLimit = intakeLimit(config);
  if (activeLimit > 0) await requireRoom(deps, asked.tenant, activeLimit);
  checkMemoryAccess(config, body.memory_id === undefined ? undefined : asked.request.memory_id);
  checkJobBudget(await deps.config.budgetsAt(place), asked.request);

  const question = policyRequest(
    { id: jobId, tenant: asked.tenant, topic: asked.topic, request: asked.request },
    asked.content,
    config,
  );
  const derived = await withDeriver(deps.topics, asked.tenant, asked.topic);
  const asking = { ...question, ...derived };
  const verdict = await askPolicy(deps.kernel, 'evaluate', asking, policyTimeoutMs);
  const settled = settledBy(asking, verdict);
  // No record is kept of a throttled job: what counts decisions is updated before the refusal below.
  if (settled?.decision.decision === 'THROTTLE') {
    deps.shadows.decided(settled);
    await store.velocity.countThrottled(asked.tenant, settled.decision.rule_id, clock.nowMs());
  }
  const deadlineMs = deadline(asked.request.deadline_ms, config, clock.nowMs(), deps.settings.defaultDeadline);
  const mode = failMode(config, 'input_fail_mode', deps.settings.policyFailMode);
  const birth = decideBirth(deps, jobId, asked, verdict, { deadlineMs, mode, context });
  const answer: FirstAnswer = { ...birth.answer, job_id: jobId, trace_id: traceId };
  const outcome = await store.jobs.accept({
    id: jobId,
    tenant: asked.tenant,
    traceId,
    topic: asked.topic,
    fields: recordFields(asked, caller.submitterId, birth, deadlineMs),
    context,
    priority: queuePriorities[asked.request.priority],
    activeLimit,
    isNew: true,
    ...(body.memory_id !== undefined && { memory: await memoryClaim(deps.config, asked.request.memory_id) }),
    ...(birth.decision && { decision: birth.decision }),
    ...(birth.next && { next: birth.next }),
    ...(idempotencyKey && {
      idempotency: {
        key: idempotencyKey,
        hash: fingerprint,
        answer: JSON.stringify(answer),
        ttlSec: deps.settings.idempotencyTtlSec,
      },
    }),
  });
  switch (outcome.kind) {
    case 'accepted':
      if (settled) deps.shadows.decided(settled);
      return readAnswer({ hash: '', answer: JSON.stringify(answer) }, '', false);
    case 'replay':
      return readAnswer({ hash: fingerprint, answer: outcome.answer }, fingerprint);
    case 'backpressure':
      throw backpressure(outcome.active, activeLimit);
    case 'memory_taken':
      throw new AppError('memory_policy_violation', { memory_id: asked.request.memory_id });
    case 'conflict':
    case 'exists':
      throw new AppError('idempotency_conflict');
  }
}

/** The decision that shadow policies are compared with; undefined when it is the scheduler's, who asks again. */
const settledBy = (request: PolicyRequest, verdict: Verdict): LiveDecision | undefined =>
  verdict.kind === 'decided' && isSettledAtOnce(verdict.decision.decision)
    ? { request, decision: verdict.decision }
    : undefined;

interface Birth {
  answer: Omit<FirstAnswer, 'job_id' | 'trace_id'>;
  decision?: DecisionRecord;
  next?: Acceptance['next'];
  jobHash: string;
  labels?: Record<string, string>;
}

/** What policy's answer makes of the job. */
function decideBirth(
  deps: SubmitDeps,
  id: string,
  asked: Normalized,
  verdict: Verdict,
  { deadlineMs, mode, context }: { deadlineMs: number; mode: FailMode; context: string },
): Birth {
  const { clock, settings } = deps;
  const jobHash = requestHash({ id, tenant: asked.tenant, topic: asked.topic, request: asked.request });
  if (verdict.kind === 'unavailable') {
    if (mode === 'closed') throw new AppError('safety_unavailable', {}, { 'Retry-After': '5' });
    deps.onFailOpen(asked.topic);
    const labels = { ...asked.request.labels, safety_bypassed: 'true', safety_bypass_reason: 'safety_unavailable' };
    return { answer: { kind: 'accepted' }, jobHash, labels };
  }
  const decision = decisionRecord(verdict.decision, jobHash, 'gateway', clock.nowUs());
  const reason = decision.reason ?? '';
  switch (decision.decision) {
    case 'ALLOW':
    case 'ALLOW_WITH_CONSTRAINTS':
      return { answer: { kind: 'accepted' }, decision, jobHash };
    case 'REQUIRE_APPROVAL': {
      const leftMs = deadlineMs > 0 ? Math.max(1, deadlineMs - clock.nowMs()) : Infinity;
      const forMs = Math.min(settings.approvalTtlMs, leftMs);
      const covered = { jobHash, inputHash: inputHash(context) };
      const approval = heldFor(decision, covered, clock.nowUs() + forMs * 1_000);
      const next = {
        event: 'hold',
        extras: { set: { approval }, park: { queue: 'jobApprovals', forMs } },
      } as const;
      return { answer: { kind: 'held', reason }, decision: { ...decision, approval_ref: id }, next, jobHash };
    }
    case 'DENY': {
      const job = { id, tenant: asked.tenant, topic: asked.topic, attempts: 0, state: 'PENDING' } as const;
      const ending = { event: 'deny', code: 'policy_denied', message: reason || 'denied by policy' } as const;
      const extras = badEnd(job, ending, clock.nowUs(), settings.deadLetterTtlSec);
      return { answer: { kind: 'denied', reason }, decision, next: { event: 'deny', extras }, jobHash };
    }
    case 'THROTTLE': {
      const waitSec = Math.max(1, Math.ceil((verdict.decision.throttle_duration_ms ?? 30_000) / 1_000));
      throw new AppError('policy_throttled', { ...(reason && { reason }) }, { 'Retry-After': String(waitSec) });
    }
    case 'UNAVAILABLE':
      throw new AppError('safety_unavailable');
  }
}

/** The approval that a held job opens with. */
export const heldFor = (
  decision: DecisionRecord,
  { jobHash, inputHash }: { jobHash: string; inputHash: string },
  expiresAtUs: number,
) => ({
  status: 'pending' as const,
  revision: 1,
  policy_snapshot: decision.policy_snapshot ?? '',
  job_hash: jobHash,
  input_hash: inputHash,
  expires_at: expiresAtUs,
});

function recordFields(asked: Normalized, submitter: string, birth: Birth, deadlineMs: number): Partial<JobRecord> {
  const request = birth.labels ? { ...asked.request, labels: birth.labels } : asked.request;
  return {
    request,
    submitter,
    job_hash: birth.jobHash,
    deadline_ms: deadlineMs,
    ...(birth.decision && {
      safety: birth.decision,
      safety_snapshot: policyPart(birth.decision.policy_snapshot ?? ''),
    }),
  };
}

/**
 * Absolute, unix ms; 0 = none. A cap applies only when config sets one.
 *
 * @param byDefault whether a job that asks for none gets the default of config (SVC_DEFAULT_DEADLINE)
 */
export function deadline(
  askedMs: number,
  config: Record<string, unknown> | undefined,
  nowMs: number,
  byDefault: boolean,
): number {
  const usual =
    numberAt(config, 'resources', 'default_timeout_seconds') ?? defaultSettings.resources.default_timeout_seconds;
  const wanted = askedMs > 0 || !byDefault ? askedMs : usual * 1_000;
  if (wanted <= 0) return 0;
  const capSec = numberAt(config, 'resources', 'max_timeout_seconds');
  return nowMs + Math.min(wanted, capSec ? capSec * 1_000 : Infinity, furthestMs);
}

/** A century: beyond 2255 microseconds are no exact numbers any more. */
const furthestMs = 100 * 365 * 86_400_000;

/** concurrent_jobs + queue_size of effective config; absent or 0 = no limit. */
function intakeLimit(config: Record<string, unknown> | undefined): number {
  const concurrent =
    numberAt(config, 'limits', 'max_concurrent_jobs') ?? numberAt(config, 'rate_limits', 'concurrent_jobs') ?? 0;
  return concurrent > 0 ? concurrent + (numberAt(config, 'rate_limits', 'queue_size') ?? 0) : 0;
}

// Asked before policy, so that a refused job does not count in velocity windows; the accepting script asks again.
async function requireRoom({ store }: SubmitDeps, tenant: string, limit: number): Promise<void> {
  const active = await store.jobs.activeCount(tenant);
  if (active >= limit) throw backpressure(active, limit);
}

const backpressure = (current: number, limit: number) =>
  new AppError('backpressure', { current, limit }, { 'Retry-After': '1' });
