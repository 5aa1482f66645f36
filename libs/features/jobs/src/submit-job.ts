import { AppError, defaultSettings, type Caller, type SubmitBody } from '@svc/contract';
import type { Kernel } from '@svc/kernel-client';
import { queuePriorities } from '@svc/routing';
import type { Acceptance, DecisionRecord, JobRecord, StoredRequest } from '@svc/store';
import type { Base, LicenseLimits } from '@svc/platform';
import { type EffectiveConfig, numberAt, turnCost } from '@svc/settings';
import type { Admission } from '@svc/admission';
import { type ActingDeps, findActingAgent, type PermittedAgent } from '@svc/agents';
import { checkJobBudget } from '@svc/budget';
import {
  approvalTimeMs,
  askAboutJob,
  initialStateFor,
  inputHash,
  isFinalDecision,
  type JobDecision,
  toPriority,
  requestHash,
  safetyFields,
  type ShadowReporter,
  toConfigScope,
} from '@svc/decision';
import { admitTopic, type TopicDeps } from '@svc/registry';
import { failureWrites } from './job-failure';
import { type StoredResponse, replayResponse, requestFingerprint, type SubmitOutcome } from './idempotency';
import { memoryClaim } from './data/memory-owner';
import { checkMemoryAccess } from './memory-access';
import type { NewJobPlacement, ProposedPlacement } from './new-job-placement';
import { newJobRecord } from './new-job-record';
import { type Normalized, normalizeRequest } from './normalize-request';
import type { RecentJobs } from './recent-jobs';
import { type DelegatedDeps, requireAgent, withDelegation } from './require-agent';

export interface SubmitDeps extends Base {
  kernel: Kernel;
  shadows: ShadowReporter;
  config: EffectiveConfig;
  topics: TopicDeps;
  admission: Admission;
  agents: ActingDeps & DelegatedDeps;
  license(): LicenseLimits;
  /** Absent where clients do not wait for jobs. */
  recent?: Pick<RecentJobs, 'expect' | 'confirm' | 'forget'> | undefined;
  /** Absent: every permitted job goes to the queue of undecided jobs. */
  placement?: NewJobPlacement | undefined;
  settings: {
    policyFailMode: 'closed' | 'open';
    idempotencyTtlSec: number;
    approvalTtlMs: number;
    deadLetterTtlSec: number;
    defaultDeadline: boolean;
  };
  /** Publishes the ends of jobs that the limits of a new one cancelled. Absent: the replayer does. */
  onCancelled?: ((ids: readonly string[]) => void) | undefined;
  /** Policy was unavailable and fail mode open accepted the job. */
  onFailOpen(topic: string): void;
}

/** Headers of a submission. */
export interface SubmitHeaders {
  idempotencyKey?: string | undefined;
  /** The agent that the caller acts as. */
  agentId?: string | undefined;
}

/**
 * Accepts a job from REST or gRPC. The response is sent after one atomic write has stored the record and its queue entry. A
 * job that policy permits is dispatched or added to its lane by the same write. See docs/reference/jobs.md#submit-a-job.
 *
 * @throws the codes of `submitJob` in the contract
 */
export async function submitJob(
  deps: SubmitDeps,
  caller: Caller,
  body: SubmitBody,
  { idempotencyKey, agentId: header }: SubmitHeaders,
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
  const agentId = await findActingAgent(deps.agents, caller, { header, label: body.labels['agent_id'] });
  if (agentId !== undefined) {
    asked.request.agent_id = agentId;
    asked.request.labels['agent_id'] = agentId;
  }
  await admitTopic(deps.topics, asked);

  const fingerprint = idempotencyKey ? requestFingerprint(body) : '';
  if (idempotencyKey) {
    const earlier = await store.jobs.reserved(asked.tenant, idempotencyKey);
    if (earlier) return replayResponse(earlier, fingerprint);
  }
  const config = await deps.config.at(toConfigScope(asked, 'team'));
  const priority = toPriority(body.priority, config);
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

/** Bounds the repeats for an agent that is changed again and again. */
const MAX_AGENT_CHECKS = 3;

async function accept(deps: SubmitDeps, caller: Caller, submission: Submission): Promise<SubmitOutcome> {
  for (let checks = 0; checks < MAX_AGENT_CHECKS; checks++) {
    const outcome = await tryAccept(deps, caller, submission);
    if (outcome) return outcome;
  }
  throw new AppError('store_unavailable', {}, { 'Retry-After': '1' });
}

/** @returns undefined when the agent of the job was changed after it was checked */
async function tryAccept(deps: SubmitDeps, caller: Caller, submission: Submission): Promise<SubmitOutcome | undefined> {
  const { clock, store } = deps;
  const { body, jobId, traceId, asked, config, context, idempotencyKey, fingerprint } = submission;
  const activeLimit = intakeLimit(config);
  if (activeLimit > 0) await requireRoom(deps, asked.tenant, activeLimit);
  checkMemoryAccess(config, body.memory_id === undefined ? undefined : asked.request.memory_id);
  checkJobBudget(await deps.config.budgetsAt(toConfigScope(asked, 'team')), asked.request);

  const { tenant, topic } = asked;
  const delegated = await withDelegation(
    deps.agents,
    caller,
    { id: jobId, tenant, topic, request: asked.request },
    body,
  );
  const { request } = delegated;
  const agent = await requireAgent(deps.agents, delegated);
  const job = { id: jobId, tenant, topic, request, job_hash: requestHash({ id: jobId, tenant, topic, request }) };
  const answer = await askAboutJob(deps, agent ? { ...job, facts: agent.facts } : job, {
    method: 'evaluate',
    content: asked.content,
    config,
    failMode: deps.settings.policyFailMode,
  });
  // Shadow policies see each decision once. For a permitted job that goes to the queue, the scheduler asks again and reports
  // its own decision.
  const final = answer.kind === 'decided' && isFinalDecision(answer.decision.decision) ? answer : undefined;
  // A throttled job has no record, so its decision is counted before the refusal below.
  if (final?.decision.decision === 'THROTTLE') {
    deps.shadows.decided(final);
    await store.velocity.countThrottled(asked.tenant, final.decision.rule_id, clock.nowMs());
  }
  const deadlineMs = deadline(asked.request.deadline_ms, config, clock.nowMs(), deps.settings.defaultDeadline);
  const creation = toCreation(deps, job, answer, { deadlineMs, context });
  const response: StoredResponse = { ...creation.response, job_id: jobId, trace_id: traceId };
  const fields = recordFields(request, caller.submitterId, creation, { deadlineMs, agent });
  const record = newJobRecord({ id: jobId, tenant, trace_id: traceId, topic, ...fields }, clock.nowUs());
  const proposal = await proposePlacement(deps, record, context, creation, config);
  if (!creation.next) deps.recent?.expect(record, context);
  const outcome = await store.jobs.accept({
    id: jobId,
    tenant: asked.tenant,
    traceId,
    topic: asked.topic,
    fields,
    context,
    priority: queuePriorities[asked.request.priority],
    turnCost: turnCost(config),
    activeLimit,
    isNew: true,
    ...(body.memory_id !== undefined && { memory: await memoryClaim(deps.config, asked.request.memory_id) }),
    ...(creation.decision && { decision: creation.decision }),
    ...(creation.next && { next: creation.next }),
    ...(proposal && { place: proposal.place }),
    ...(idempotencyKey && {
      idempotency: {
        key: idempotencyKey,
        hash: fingerprint,
        answer: JSON.stringify(response),
        ttlSec: deps.settings.idempotencyTtlSec,
      },
    }),
  });
  if (outcome.kind !== 'accepted') deps.recent?.forget(jobId);
  switch (outcome.kind) {
    case 'accepted':
      if (answer.kind === 'decided' && (final || outcome.placed.kind !== 'queued')) deps.shadows.decided(answer);
      deps.recent?.confirm(jobId, outcome.atUs);
      proposal?.settle(outcome.placed);
      if (outcome.cancelled) deps.onCancelled?.(outcome.cancelled);
      return replayResponse({ hash: '', answer: JSON.stringify(response) }, '', false);
    case 'replay':
      return replayResponse({ hash: fingerprint, answer: outcome.answer }, fingerprint);
    case 'singleton':
      if (asked.request.limits?.singleton?.mode === 'return') {
        return { jobId: outcome.jobId, traceId: outcome.traceId, replayed: true };
      }
      throw new AppError('singleton_conflict', { job_id: outcome.jobId });
    case 'backpressure':
      throw backpressure(outcome.active, activeLimit);
    case 'agent_changed':
      return undefined;
    case 'memory_taken':
      throw new AppError('memory_policy_violation', { memory_id: asked.request.memory_id });
    case 'conflict':
    case 'exists':
      throw new AppError('idempotency_conflict');
  }
}

type NewJob = Pick<JobRecord, 'id' | 'tenant' | 'topic' | 'request' | 'job_hash'>;

/** The fields of the accepting write that depend on the decision. */
interface Creation {
  response: Omit<StoredResponse, 'job_id' | 'trace_id'>;
  decision?: DecisionRecord;
  next?: Acceptance['next'];
  jobHash: string;
  labels?: Record<string, string>;
}

/** @throws policy_throttled, safety_unavailable */
function toCreation(
  deps: SubmitDeps,
  { id, tenant, topic, request, job_hash: jobHash }: NewJob,
  answer: JobDecision,
  { deadlineMs, context }: { deadlineMs: number; context: string },
): Creation {
  const { clock, settings } = deps;
  if (answer.kind === 'unavailable') {
    if (answer.failMode === 'closed') throw new AppError('safety_unavailable', {}, { 'Retry-After': '5' });
    deps.onFailOpen(topic);
    const labels = { ...request.labels, safety_bypassed: 'true', safety_bypass_reason: 'safety_unavailable' };
    return { response: { kind: 'accepted' }, jobHash, labels };
  }
  const nowUs = clock.nowUs();
  const initial = initialStateFor(id, answer, {
    nowUs,
    timeLimitMs: approvalTimeMs(settings.approvalTtlMs, deadlineMs, clock.nowMs()),
    inputHash: () => inputHash(context),
  });
  const reason = answer.record.reason ?? '';
  switch (initial.kind) {
    case 'accepted':
      return { response: { kind: 'accepted' }, decision: initial.decision, jobHash };
    case 'held':
      return { response: { kind: 'held', reason }, decision: initial.decision, next: initial.next, jobHash };
    case 'denied': {
      const job = { id, tenant, topic, attempts: 0, state: 'PENDING' } as const;
      const extras = failureWrites(job, initial.failure, nowUs, settings.deadLetterTtlSec);
      return {
        response: { kind: 'denied', reason },
        decision: initial.decision,
        next: { event: 'deny', extras },
        jobHash,
      };
    }
    case 'throttled': {
      const waitSec = Math.max(1, Math.ceil(initial.waitMs / 1_000));
      throw new AppError('policy_throttled', { ...(reason && { reason }) }, { 'Retry-After': String(waitSec) });
    }
  }
}

type NewFields = Pick<JobRecord, 'request' | 'submitter' | 'job_hash' | 'deadline_ms'> & Partial<JobRecord>;

/** Only a job that policy permits is placed; without an answer of policy it has no decision. */
async function proposePlacement(
  { placement }: SubmitDeps,
  record: JobRecord,
  context: string,
  { decision, next }: Creation,
  config: Record<string, unknown> | undefined,
): Promise<ProposedPlacement | undefined> {
  return placement && decision && !next ? placement.propose({ record, context, decision, config }) : undefined;
}

function recordFields(
  asked: StoredRequest,
  submitter: string,
  creation: Creation,
  { deadlineMs, agent }: { deadlineMs: number; agent: PermittedAgent | undefined },
): NewFields {
  const request = creation.labels ? { ...asked, labels: creation.labels } : asked;
  return {
    request,
    submitter,
    job_hash: creation.jobHash,
    deadline_ms: deadlineMs,
    ...(creation.decision && safetyFields(creation.decision)),
    ...agent?.fields,
  };
}

/**
 * Absolute, unix ms; 0 = none. A cap applies only when config sets one.
 *
 * @param byDefault whether a job without a deadline gets the default of config (SVC_DEFAULT_DEADLINE)
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
  return nowMs + Math.min(wanted, capSec ? capSec * 1_000 : Infinity, maxDeadlineMs);
}

/** A century: after the year 2255, microseconds exceed the exact integers. */
const maxDeadlineMs = 100 * 365 * 86_400_000;

/** concurrent_jobs + queue_size of effective config; absent or 0 = no limit. */
function intakeLimit(config: Record<string, unknown> | undefined): number {
  const concurrent =
    numberAt(config, 'limits', 'max_concurrent_jobs') ?? numberAt(config, 'rate_limits', 'concurrent_jobs') ?? 0;
  return concurrent > 0 ? concurrent + (numberAt(config, 'rate_limits', 'queue_size') ?? 0) : 0;
}

// Checked before policy, so that a refused job does not count in velocity windows; the accepting script checks again.
async function requireRoom({ store }: SubmitDeps, tenant: string, limit: number): Promise<void> {
  const active = await store.jobs.activeCount(tenant);
  if (active >= limit) throw backpressure(active, limit);
}

const backpressure = (current: number, limit: number) =>
  new AppError('backpressure', { current, limit }, { 'Retry-After': '1' });
