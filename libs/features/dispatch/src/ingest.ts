import { contextPointer, JobPriority, type JobRequest, limits, shorten } from '@svc/contract';
import { isTenantName } from '@svc/identity';
import { queuePriorities } from '@svc/routing';
import type { Store, StoredRequest } from '@svc/store';
import { inheritedLabels, deadline, isWithheld, memoryClaim, findResultOwner } from '@svc/jobs';
import { toPriority, requestHash, storedContextRef } from '@svc/decision';
import { turnCost } from '@svc/settings';
import type { SchedulingDeps } from './scheduling-deps';

const priorities: Readonly<Record<number, string>> = {
  [JobPriority.JOB_PRIORITY_UNSPECIFIED]: '',
  [JobPriority.JOB_PRIORITY_BATCH]: 'batch',
  [JobPriority.JOB_PRIORITY_CRITICAL]: 'critical',
};
const actorTypes: Readonly<Record<number, string>> = { 1: 'human', 2: 'service' };

/** Characters allowed in keys, paths and log lines. */
const plainId = /^[^\s\p{Cc}]{1,512}$/u;

/**
 * Accepts a job that was submitted over the bus. It enters the same queue and is checked by the same policy as one from the
 * gateway. A repeated job id is a no-op.
 * See docs/architecture.md#the-path-of-a-job.
 */
export async function ingestJob(
  deps: SchedulingDeps,
  senderId: string,
  traceId: string,
  submitted: JobRequest,
  defaultTenant: string,
): Promise<void> {
  const packet = { ...submitted, context_ptr: submitted.context_ptr || (submitted.context_ref?.uri ?? '') };
  const tenant = packet.tenant_id || packet.meta?.tenant_id || defaultTenant;
  const id = packet.job_id;
  if (!plainId.test(id) || !isTenantName(tenant)) {
    deps.events.refusedSubmission(shorten(id, 64), 'job id or tenant has characters that are not allowed');
    return;
  }
  if (packet.topic.length > limits.topicChars) {
    deps.events.refusedSubmission(shorten(id, 64), `topic is longer than ${limits.topicChars} characters`);
    return;
  }
  const rejection = await findInputRefusal(deps.store, packet, tenant);
  if (rejection) {
    deps.events.refusedSubmission(shorten(id, 64), rejection);
    return;
  }
  const config = await deps.config.at({ tenant, team: packet.env['team_id'] || undefined });
  const request = toStoredRequest(packet, config);
  const context = await deps.store.data.context(contextPointer({ id, request }), limits.contextBytes);
  const bytes = context?.length ?? 0;
  const acceptance = {
    id,
    tenant,
    traceId: plainId.test(traceId) ? traceId : id,
    topic: packet.topic,
    fields: {
      request,
      submitter: shorten(`bus:${senderId}|principal:${packet.principal_id}`),
      job_hash: requestHash({ id, tenant, topic: packet.topic, request }),
      deadline_ms: deadline(request.deadline_ms, config, deps.clock.nowMs(), deps.settings.defaultDeadline),
    },
    context: '',
    priority: queuePriorities[request.priority],
    turnCost: turnCost(config),
    activeLimit: 0,
    memory: await memoryClaim(deps.config, request.memory_id),
  };
  // Over the limits this throws: the message stays on the bus and is redelivered.
  const outcome = await deps.admission.job(tenant, bytes, () => deps.store.jobs.accept(acceptance));
  if (outcome.kind === 'memory_taken') {
    deps.events.refusedSubmission(shorten(id, 64), 'memory_id names the memory of another tenant');
  }
}

const contextKey = /^redis:\/\/(ctx|res):([^\s\p{Cc}]{1,512})$/u;

/**
 * Reason an input pointer is refused, or undefined. It may name the input or result of another job of the same tenant,
 * provided the result is readable: the rules are those of the gateway.
 */
async function findInputRefusal(
  { jobs }: Pick<Store, 'jobs'>,
  { job_id: id, context_ptr: pointer, context_ref: ref }: JobRequest,
  tenant: string,
): Promise<string | undefined> {
  if (ref?.uri && ref.uri !== pointer) return 'context_ref names another resource than context_ptr';
  if (pointer === '' || pointer === `redis://ctx:${id}`) return undefined;
  if (!pointer.startsWith('redis://')) return undefined;
  const [, kind, name = ''] = contextKey.exec(pointer) ?? [];
  if (!kind) return 'context_ptr must be redis://ctx:<id>, redis://res:<id> or a pointer of another scheme';
  const owner = await (kind === 'res' ? findResultOwner({ jobs }, name) : jobs.load(name));
  if (owner && owner.tenant !== tenant) return 'context_ptr names a job of another tenant';
  if (kind !== 'res' || !owner) return undefined;
  const { redacted_ptr: redacted, released_at: released } = owner.output_safety ?? {};
  const isOriginal = redacted !== undefined && redacted !== pointer && released === undefined;
  return isOriginal || isWithheld(owner) ? 'context_ptr names a result that was withheld' : undefined;
}

function toStoredRequest(packet: JobRequest, config: Record<string, unknown> | undefined): StoredRequest {
  const { meta, budget, context_hints: hints } = packet;
  const own = (text: string | undefined) => (text ? text : undefined);
  const optional = {
    adapter_id: own(packet.adapter_id),
    context_ptr: packet.context_ptr === `redis://ctx:${packet.job_id}` ? undefined : own(packet.context_ptr),
    context_ref: storedContextRef(packet),
    capability: own(meta?.capability),
    actor_type: actorTypes[meta?.actor_type ?? 0],
    pack_id: own(meta?.pack_id),
    idempotency_key: own(meta?.idempotency_key),
    parent_job_id: own(packet.parent_job_id),
    team_id: own(packet.env['team_id']),
    project_id: own(packet.env['project_id']),
  };
  return {
    topic: packet.topic,
    priority: toPriority(priorities[packet.priority] ?? 'interactive', config),
    ...(Object.fromEntries(
      Object.entries(optional).filter(([, value]) => value !== undefined),
    ) as Partial<StoredRequest>),
    risk_tags: [...(meta?.risk_tags ?? [])],
    requires: [...(meta?.requires ?? [])],
    tags: [...(hints?.tags ?? [])],
    labels: { ...inheritedLabels(packet.labels), _source: 'bus' },
    memory_id: packet.memory_id.replace(/^mem:/, '') || packet.job_id,
    context_mode: packet.env['context_mode'] ?? 'raw',
    principal_id: packet.principal_id,
    actor_id: meta?.actor_id || packet.principal_id,
    max_input_tokens: budget?.max_input_tokens ?? 0,
    max_output_tokens: budget?.max_output_tokens ?? 0,
    max_total_tokens: budget?.max_total_tokens ?? 0,
    deadline_ms: Math.max(0, budget?.deadline_ms ?? 0),
    allow_summarization: hints?.allow_summarization ?? false,
    allow_retrieval: hints?.allow_retrieval ?? false,
    env: {},
  };
}
