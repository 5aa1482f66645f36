import {
  canonicalMessage,
  contextPointer,
  dataUrlEnv,
  dispatchEnv,
  jobHash,
  encodeJobRequest,
  maxPacketBytes,
  jobRequestMessageId,
  workerJobsSubject,
  type DispatchIdentity,
  type EncodedPacket,
  type JobRequestDraft,
} from '@svc/contract';
import { type DecisionRecord, type JobRecord, type StoredRequest, toResolution } from '@svc/store';
import { wireContextRef } from './context-ref';

/** Data of a dispatch that its worker would otherwise read from the store. */
export type InlineData = Pick<JobRequestDraft, 'inline_input' | 'result_ticket'>;

/** Parts of a dispatch that depend on its worker. */
export interface WorkerParts {
  /** Env by which a worker without access to the store reads and writes the data of the job. */
  dataUrls?: Readonly<Record<string, string>>;
  inline?: InlineData;
  /** Adds the grant, for workers that verify it. @param packet in its deterministic encoding */
  seal?: ((packet: Uint8Array) => Uint8Array) | undefined;
}

type DraftedJob = Pick<JobRecord, 'id' | 'tenant' | 'topic' | 'request'>;

const busPriority = { interactive: 1, batch: 2, critical: 3 } as const;
const busActor = { human: 1, service: 2 } as const;

/**
 * The request as workers see it, without what changes from dispatch to dispatch.
 * See docs/reference/worker-protocol.md#packets.
 */
export function jobRequestDraft({ id, tenant, topic, request }: DraftedJob): JobRequestDraft {
  const labels = withoutContent(request.labels);
  return {
    job_id: id,
    topic,
    priority: busPriority[request.priority],
    context_ptr: contextPointer({ id, request }),
    ...(request.context_ref && {
      context_ref: wireContextRef(request.context_ref, contextPointer({ id, request })),
    }),
    adapter_id: request.adapter_id ?? '',
    env: { ...request.env, ...identityEnv(tenant, request) },
    parent_job_id: request.parent_job_id ?? '',
    workflow_id: request.workflow_id ?? '',
    memory_id: request.memory_id,
    context_hints: {
      max_input_tokens: request.max_input_tokens,
      allow_summarization: request.allow_summarization,
      allow_retrieval: request.allow_retrieval,
      tags: request.tags,
    },
    budget: {
      max_input_tokens: request.max_input_tokens,
      max_output_tokens: request.max_output_tokens,
      max_total_tokens: request.max_total_tokens,
      deadline_ms: request.deadline_ms,
    },
    tenant_id: tenant,
    principal_id: request.principal_id,
    labels,
    meta: {
      tenant_id: tenant,
      actor_id: request.actor_id,
      actor_type: request.actor_type === 'human' || request.actor_type === 'service' ? busActor[request.actor_type] : 0,
      idempotency_key: request.idempotency_key ?? '',
      capability: request.capability ?? '',
      risk_tags: request.risk_tags,
      requires: request.requires,
      pack_id: request.pack_id ?? '',
    },
  };
}

// The copies of the content that policy reads are not sent to workers, who get the pointer.
const withoutContent = (labels: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(labels).filter(([label]) => !label.startsWith('_content.')));

const identityEnv = (tenant: string, request: StoredRequest): Record<string, string> => ({
  tenant_id: tenant,
  ...(request.team_id && { team_id: request.team_id }),
  ...(request.project_id && { project_id: request.project_id }),
  memory_id: request.memory_id,
  context_mode: request.context_mode,
  max_input_tokens: String(request.max_input_tokens),
  max_output_tokens: String(request.max_output_tokens),
  ...(request.workflow_id && { workflow_id: request.workflow_id }),
  ...(request.run_id && { run_id: request.run_id }),
  ...(request.step_id && { step_id: request.step_id }),
});

/** SHA-256 of the request: what a decision and an approval are bound to. See docs/reference/jobs.md#approvals. */
export const requestHash = (job: DraftedJob): string => jobHash(jobRequestDraft(job));

/**
 * A dispatch: the subject of the chosen worker and the packet for it. See docs/reference/worker-protocol.md#dispatch.
 *
 * @param effectiveConfig of the job's tenant, team, workflow and step, JSON
 */
export function dispatchPacket(
  job: JobRecord & { worker_id: string; dispatch_id: string },
  senderId: string,
  nowUs: number,
  effectiveConfig: string,
  { dataUrls = {}, inline = {}, seal }: WorkerParts = {},
): { subject: string; packet: EncodedPacket } {
  const draft = jobRequestDraft(job);
  const remainingMs = job.deadline_ms > 0 ? Math.max(1, job.deadline_ms - Math.floor(nowUs / 1_000)) : 0;
  const budgetMs = [remainingMs, job.run_ms ?? 0].filter((ms) => ms > 0);
  const subject = workerJobsSubject(job.worker_id);
  const labels = { ...draft.labels, ...approvalLabels(job), ...bypassLabels(job) };
  const head = { trace_id: job.trace_id, sender_id: senderId, nowUs };
  const request = {
    ...draft,
    identity: toIdentity(job),
    dispatch: dispatchIdentity(job),
    labels,
    env: {
      ...withoutDataUrls(draft.env),
      ...dataUrls,
      ...constraintEnv(job.safety),
      SVC_EFFECTIVE_CONFIG: effectiveConfig,
      [dispatchEnv.dispatchId]: job.dispatch_id,
      [dispatchEnv.attempt]: String(job.attempts),
    },
    budget: { ...draft.budget, deadline_ms: budgetMs.length > 0 ? Math.min(...budgetMs) : 0 },
  };
  const encode = (draft: JobRequestDraft) =>
    seal ? seal(encodeJobRequest(head, canonicalMessage(draft) as JobRequestDraft)) : encodeJobRequest(head, draft);
  const whole = encode({ ...request, ...inline });
  // A job that fits into a message without inline data must not fail because of it.
  const bytes = whole.length > maxPacketBytes ? encode(request) : whole;
  return {
    subject,
    packet: { kind: 'encoded', bytes, messageId: jobRequestMessageId(subject, job.id, labels, job.attempts) },
  };
}

/** Submitters must not control where a worker sends its results. */
const withoutDataUrls = (env: Readonly<Record<string, string>> | null | undefined) =>
  Object.fromEntries(Object.entries(env ?? {}).filter(([name]) => !dataUrlNames.includes(name)));
const dataUrlNames: readonly string[] = Object.values(dataUrlEnv);

/** The dispatch that a job is in; undefined before its first. */
export const dispatchIdentity = (
  job: Pick<JobRecord, 'dispatch_id' | 'attempts' | 'worker_id'>,
): DispatchIdentity | undefined =>
  job.dispatch_id === undefined
    ? undefined
    : { dispatch_id: job.dispatch_id, attempt: job.attempts, assigned_worker_id: job.worker_id ?? '' };

/**
 * Whether an echoed dispatch is not the job's current one. Workers that echo nothing are identified by worker id alone.
 */
export function isStaleDispatch(
  echoed: DispatchIdentity | undefined,
  job: Pick<JobRecord, 'dispatch_id' | 'attempts' | 'worker_id'>,
): boolean {
  if (!echoed) return false;
  const { dispatch_id: id, attempt, assigned_worker_id: assigned } = echoed;
  if (assigned !== '' && assigned !== job.worker_id) return true;
  return id === '' ? attempt > 0 && attempt !== job.attempts : id !== job.dispatch_id;
}

const toIdentity = ({ tenant, request }: Pick<JobRecord, 'tenant' | 'request'>) => ({
  tenant_id: tenant,
  principal_id: request.principal_id,
  actor_id: request.actor_id,
});

/** The constraints as a whole, and copies of single ones. */
function constraintEnv(decision: DecisionRecord | undefined): Record<string, string> {
  const constraints = decision?.constraints;
  if (!constraints) return {};
  const budgets = (constraints['budgets'] ?? {}) as Record<string, number | undefined>;
  const copies = {
    SVC_REDACTION_LEVEL: constraints['redaction_level'],
    SVC_MAX_ARTIFACT_BYTES: budgets['max_artifact_bytes'],
    SVC_MAX_CONCURRENT_JOBS: budgets['max_concurrent_jobs'],
    SVC_MAX_RETRIES: budgets['max_retries'],
  };
  const set = Object.entries(copies).filter(([, value]) => value !== undefined && value !== '');
  return {
    SVC_POLICY_CONSTRAINTS: JSON.stringify(camelCased(constraints)),
    ...Object.fromEntries(set.map(([name, value]) => [name, String(value)])),
  };
}

/** Informational for the worker; the approval in the record is authoritative. */
const approvalLabels = ({ approval }: JobRecord): Record<string, string> =>
  approval && toResolution(approval) === 'approved'
    ? { approval_granted: 'true', approval_snapshot: approval.policy_snapshot ?? '' }
    : {};

/**
 * Informs the worker that policy was unavailable and fail mode open permitted the job.
 * See docs/reference/policy.md#kernel.
 */
const bypassLabels = ({ safety }: JobRecord): Record<string, string> =>
  safety?.decision === 'UNAVAILABLE' ? { safety_bypassed: 'true', safety_bypass_reason: 'safety_unavailable' } : {};

/** Protojson spells names in camel case. */
const camelCased = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(camelCased);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    camelCased(inner),
  ]);
  return Object.fromEntries(entries) as unknown;
};
