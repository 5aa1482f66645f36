import { AppError, contextPointer, limits } from '@svc/contract';
import type { Kernel } from '@svc/kernel-client';
import { queuePriorities } from '@svc/routing';
import type { JobRecord, StoredRequest } from '@svc/store';
import type { Admission } from '@svc/admission';
import type { CheckAgentDeps } from '@svc/agents';
import type { Base } from '@svc/platform';
import { type EffectiveConfig, turnCost } from '@svc/settings';
import { requestHash, toConfigScope } from '@svc/decision';
import { checkAgent, recordRefusal, type AgentJob, type PermittedAgent } from '@svc/agents';

export interface ResubmitDeps extends Base {
  kernel: Kernel;
  config: EffectiveConfig;
  admission: Admission;
  agents: CheckAgentDeps;
}

export interface Resubmission {
  id: string;
  traceId: string;
  tenant: string;
  request: StoredRequest;
  submitter: string;
  deadlineMs: number;
  /** Scope of the effects that the new job shares with the old one. */
  effectsOf?: string;
  /** Deduplication name: a repeated call with the same name returns the first new job. */
  once?: string;
}

const onceTtlSec = 86_400;

/**
 * Creates a new job from an old one: its context is copied, and the scheduler gets a new policy decision for it. Used for
 * retries of dead letters and for remediations. Returns the id of the new job.
 *
 * @throws backpressure, overloaded, singleton_conflict, agent_denied
 */
export async function resubmit(
  { store, admission, config, agents }: ResubmitDeps,
  original: JobRecord,
  next: Resubmission,
): Promise<string> {
  const context = await store.data.context(contextPointer(original), limits.contextBytes);
  // The new job belongs to no run, even if the old one executed a step.
  const { workflow_id: _workflow, run_id: _run, step_id: _step, ...outsideRun } = next.request;
  const { context_ptr: elsewhere, context_ref: _reference, ...rest } = outsideRun;
  // A readable document is copied to the new job's own key, perhaps in part; any other pointer is kept.
  const copied = context || !elsewhere ? rest : outsideRun;
  // The new job is one of the same agent, whatever labels it gets.
  const { agent_id: _label, ...labels } = copied.labels;
  const agentId = original.request.agent_id;
  const request = { ...copied, labels: agentId ? { ...labels, agent_id: agentId } : labels };
  const job = { id: next.id, tenant: next.tenant, topic: request.topic, request };
  const agent = await requireResubmitted(agents, { ...job, delegation: original.delegation });
  const cost = turnCost(await config.at(toConfigScope(job, 'team')));
  const accept = () =>
    store.jobs.accept({
      id: next.id,
      tenant: next.tenant,
      traceId: next.traceId,
      topic: request.topic,
      fields: {
        request,
        submitter: next.submitter,
        job_hash: requestHash(job),
        deadline_ms: next.deadlineMs,
        ...(next.effectsOf !== undefined && { effects_of: next.effectsOf }),
        ...agent?.fields,
      },
      context: context?.toString('utf8') ?? '',
      priority: queuePriorities[request.priority],
      turnCost: cost,
      activeLimit: 0,
      ...(next.once && {
        idempotency: { key: next.once, hash: next.once, answer: next.id, ttlSec: onceTtlSec, isInternal: true },
      }),
    });
  const outcome = await admission.job(next.tenant, context?.length ?? 0, accept);
  if (outcome.kind === 'replay') return outcome.answer;
  if (outcome.kind === 'singleton') throw new AppError('singleton_conflict', { job_id: outcome.jobId });
  if (outcome.kind !== 'accepted') throw new AppError('store_unavailable');
  return next.id;
}

/** The new job is one of the same agent by the same delegation, as they are now. @throws agent_denied */
async function requireResubmitted(agents: CheckAgentDeps, job: AgentJob): Promise<PermittedAgent | undefined> {
  const check = await checkAgent(agents, job);
  if (check?.kind !== 'refused') return check;
  await recordRefusal(agents, job, check.reason);
  throw new AppError('agent_denied', { sub_reason: check.reason, agent_id: job.request.agent_id });
}

const setByService = /^(approval_|safety_|saga_|is_compensation$|svc\.bus_msg_id$|policy\.attachment_id$|_)/;

/** Labels of an old job that a new one inherits: none that approval, policy or the bus set, and no agent. */
export const inheritedLabels = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([label]) => label !== 'agent_id' && !setByService.test(label)));
