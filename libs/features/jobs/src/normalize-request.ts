import { AppError, limits, tierLimit, type Caller, type SubmitBody } from '@svc/contract';
import type { StoredRequest } from '@svc/store';
import { buildPolicyContent, markSecrets, toPriority } from '@svc/decision';
import { toJobLimits } from './job-limits';

export interface Normalized {
  tenant: string;
  topic: string;
  request: StoredRequest;
  /** The input document for workers. See docs/reference/jobs.md#submit-a-job. */
  document: Record<string, unknown>;
  /** Set for policy only, never stored with the request. */
  content: string;
}

/** Labels that clients cannot set: dropped. See docs/reference/worker-protocol.md#environment-and-labels. */
const reservedLabel =
  /^(_|approval_|safety_|saga_|is_compensation$|gate_type$|svc\.bus_msg_id$|policy\.attachment_id$|secrets_present$)/;
const refusedLabel = /^_(governance|ma)\./;

/**
 * Validates and completes a submission, in the order of docs/reference/jobs.md#submit-a-job.
 *
 * @param maxPromptChars from the license in effect
 * @throws prompt_is_required, tier_limit_exceeded, invalid_body, invalid_memory_id, tenant_access_denied, access_denied
 */
export function normalizeRequest(
  body: SubmitBody,
  caller: Caller,
  jobId: string,
  maxPromptChars: number,
  nowIso: string,
): Normalized {
  checkPrompt(body.prompt, maxPromptChars);
  const tenant = resolveTenant(body, caller);
  const principal = body.principal_id || caller.principalId;
  if (principal !== caller.principalId && caller.role !== 'admin' && !caller.allowCrossTenant) {
    throw new AppError('access_denied');
  }
  const labels = { ...clientLabels(body.labels), _source: body.pack_id ? 'pack' : 'api' };
  const jobLimits = toJobLimits(body);
  const unmarked: StoredRequest = {
    topic: body.topic,
    // Replaced once its config is known.
    priority: toPriority(body.priority, undefined),
    ...optional(body),
    risk_tags: body.risk_tags,
    requires: body.requires,
    tags: body.tags,
    labels,
    memory_id: memoryId(body.memory_id, jobId),
    context_mode: ['chat', 'rag', 'raw'].includes(body.context_mode ?? '') ? (body.context_mode as string) : 'raw',
    principal_id: principal,
    actor_id: body.actor_id || principal,
    max_input_tokens: body.max_input_tokens,
    max_output_tokens: body.max_output_tokens,
    max_total_tokens: body.max_total_tokens,
    deadline_ms: body.deadline_ms,
    ...(body.queue_ttl_ms > 0 && { queue_ttl_ms: body.queue_ttl_ms }),
    ...(jobLimits && { limits: jobLimits }),
    allow_summarization: body.allow_summarization,
    allow_retrieval: body.allow_retrieval,
    env: {},
  };
  const request = markSecrets(unmarked, body.prompt, body.context);
  const document = {
    prompt: body.prompt,
    adapter_id: body.adapter_id ?? '',
    priority: request.priority,
    topic: body.topic,
    created_at: nowIso,
    tenant_id: tenant,
    ...(body.context !== undefined && { context: body.context }),
  };
  return { tenant, topic: body.topic, request, document, content: buildPolicyContent(body.prompt, body.context) };
}

function checkPrompt(prompt: string, maxPromptChars: number): void {
  if (prompt.trim() === '') throw new AppError('prompt_is_required');
  const allowed = allowedPromptChars(maxPromptChars);
  if (prompt.length <= allowed) return;
  throw tierLimit({
    message: `prompt has ${prompt.length} characters and the plan allows ${allowed}`,
    limit: 'max_prompt_chars',
    current: prompt.length,
    allowed,
  });
}

/** 50,000 unless the license raises it, up to the ceiling; -1 = unlimited, 0 = the default. */
export function allowedPromptChars(granted: number): number {
  if (granted === -1) return limits.promptCharsCeiling;
  return granted > 0 ? Math.min(granted, limits.promptCharsCeiling) : limits.promptChars;
}

function resolveTenant(body: SubmitBody, caller: Caller): string {
  const tenant = body.org_id || body.tenant_id || caller.tenant;
  const named = [body.org_id, body.tenant_id].filter((name) => name);
  if (named.some((name) => name !== caller.tenant)) throw new AppError('tenant_access_denied');
  return tenant;
}

/**
 * Labels that a client may set; reserved ones are dropped.
 *
 * @throws invalid_body for names that only the service may set, and for names and values that are too long
 */
export function clientLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const faults = Object.entries(labels).flatMap(([label, value]) => {
    if (refusedLabel.test(label))
      return [labelFault(label, 'labels beginning _governance. or _ma. are set by the service')];
    if (Buffer.byteLength(label) > limits.labelKeyBytes)
      return [labelFault(label, `a name has at most ${limits.labelKeyBytes} bytes`)];
    if (Buffer.byteLength(value) > limits.labelValueBytes)
      return [labelFault(label, `a value has at most ${limits.labelValueBytes} bytes`)];
    return [];
  });
  if (faults.length > 0) throw new AppError('invalid_body', { violations: faults });
  return Object.fromEntries(Object.entries(labels).filter(([label]) => !reservedLabel.test(label)));
}

/** In the shape of a field violation: the field and the position in it. */
const labelFault = (label: string, message: string) => ({
  in: 'body',
  field: 'labels',
  path: `labels.${label.slice(0, 64)}`,
  message,
});

function memoryId(given: string | undefined, jobId: string): string {
  if (given === undefined) return jobId;
  const id = given.replace(/^mem:/, '').trim();
  if (id === '') throw new AppError('invalid_memory_id');
  return id;
}

const optional = (body: SubmitBody): Partial<StoredRequest> => ({
  ...(body.adapter_id && { adapter_id: body.adapter_id }),
  ...(body.capability && { capability: body.capability }),
  ...(body.actor_type && { actor_type: body.actor_type }),
  ...(body.team_id && { team_id: body.team_id }),
  ...(body.project_id && { project_id: body.project_id }),
  ...(body.pack_id && { pack_id: body.pack_id }),
  ...(body.estimated_cost !== undefined && { estimated_cost: body.estimated_cost }),
});

/** Labels as clients see them: those added by the service are left out. */
export const publicLabels = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([label]) => !label.startsWith('_')));
