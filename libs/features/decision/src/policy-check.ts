import type { Kernel } from '@svc/kernel-client';
import type { PolicyDecision, PolicyRequest } from '@svc/policy';
import { withTimeout } from '@svc/runtime';
import type { DecisionRecord, JobRecord, StoredRequest } from '@svc/store';
import { workflowStepOf } from './workflow-step';

/** What policy is asked about a job. See docs/reference/policy.md#evaluation. */
export function policyRequest(
  job: Pick<JobRecord, 'id' | 'tenant' | 'topic' | 'run'> & { request: StoredRequest },
  content: string,
  effectiveConfig: Record<string, unknown> | undefined,
): PolicyRequest {
  const { request } = job;
  const { workflow, step } = workflowStepOf(job);
  const server = Object.entries(request.labels).filter(
    ([label]) => label.startsWith('_') || label === 'secrets_present',
  );
  const own = Object.entries(request.labels).filter(([label]) => !label.startsWith('_'));
  return {
    topic: job.topic,
    tenant: job.tenant,
    job_id: job.id,
    ...(request.team_id && { team_id: request.team_id }),
    ...(workflow && { workflow_id: workflow }),
    ...(step && { step_id: step }),
    principal_id: request.principal_id,
    memory_id: request.memory_id,
    priority: request.priority,
    ...(request.estimated_cost !== undefined && { estimated_cost: request.estimated_cost }),
    labels: Object.fromEntries(own),
    server_labels: Object.fromEntries(server),
    ...(effectiveConfig && { effective_config: effectiveConfig }),
    meta: {
      tenant_id: job.tenant,
      actor_id: request.actor_id,
      ...(request.actor_type && { actor_type: request.actor_type }),
      ...(request.idempotency_key && { idempotency_key: request.idempotency_key }),
      ...(request.capability && { capability: request.capability }),
      risk_tags: request.risk_tags,
      requires: request.requires,
      ...(request.pack_id && { pack_id: request.pack_id }),
    },
    input_content: content,
    input_content_type: 'application/json',
  };
}

/**
 * The decision kept with a job, when it permitted the job as it is now. Policy is asked again before each dispatch, and a
 * velocity window that has filled up since must not refuse a job that it let through.
 */
export function priorPermit({ safety, job_hash }: JobRecord): Pick<PolicyRequest, 'prior_permit'> {
  const permits = safety?.decision === 'ALLOW' || safety?.decision === 'ALLOW_WITH_CONSTRAINTS';
  if (!permits || !safety.policy_snapshot || safety.job_hash !== job_hash) return {};
  return { prior_permit: { policy_snapshot: safety.policy_snapshot, rule_id: safety.rule_id ?? '' } };
}

export type Verdict = { kind: 'decided'; decision: PolicyDecision } | { kind: 'unavailable'; error: Error };

/**
 * Asks policy within a time limit. A denial is an answer; only silence and errors are failures.
 *
 * @param method evaluate at submission, check before dispatch: a job asked about twice counts once in velocity windows;
 *   simulate counts nothing
 */
export const askPolicy = (
  kernel: Kernel,
  method: 'evaluate' | 'check' | 'simulate',
  request: PolicyRequest,
  timeoutMs: number,
): Promise<Verdict> => answerWithin(() => kernel[method](request), timeoutMs);

/** The same of any question to the kernel. */
export async function answerWithin(ask: () => Promise<PolicyDecision>, timeoutMs: number): Promise<Verdict> {
  const timeoutError = () => new Error(`no answer from policy within ${timeoutMs} ms`);
  try {
    return { kind: 'decided', decision: await withTimeout(ask(), timeoutMs, timeoutError) };
  } catch (error) {
    return { kind: 'unavailable', error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** A decision as it is kept with the job. */
export function decisionRecord(
  decision: PolicyDecision,
  jobHash: string,
  source: DecisionRecord['source'],
  nowUs: number,
): DecisionRecord {
  return {
    decision: decision.decision,
    ...(decision.reason && { reason: decision.reason }),
    ...(decision.rule_id && { rule_id: decision.rule_id }),
    policy_snapshot: decision.policy_snapshot,
    ...(decision.constraints && { constraints: { ...decision.constraints } }),
    ...(decision.approval_required && { approval_required: true }),
    ...(decision.approval_ref && { approval_ref: decision.approval_ref }),
    job_hash: jobHash,
    ...(decision.remediations.length > 0 && { remediations: decision.remediations.map((entry) => ({ ...entry })) }),
    checked_at: nowUs,
    source,
  };
}

/** The part of a snapshot that names the policy itself. See docs/reference/policy.md#snapshots. */
export const policyPart = (snapshot: string): string => snapshot.split('|')[0] ?? '';
