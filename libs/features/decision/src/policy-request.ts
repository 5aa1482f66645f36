import type { PolicyRequest } from '@svc/policy';
import type { JobRecord, StoredRequest } from '@svc/store';
import { toWorkflowStep } from './workflow-step';

/** The fields of a job that its policy request is built from. */
export type RequestedJob = Pick<JobRecord, 'id' | 'tenant' | 'topic' | 'run'> & {
  request: StoredRequest;
  /** Facts about its agent and its delegation. */
  facts?: Pick<PolicyRequest, 'agent' | 'delegation'>;
};

/** Builds the policy request of a job. See docs/reference/policy.md#evaluation. */
export function buildPolicyRequest(
  job: RequestedJob,
  content: string,
  effectiveConfig: Record<string, unknown> | undefined,
): PolicyRequest {
  const { request } = job;
  const { workflow, step } = toWorkflowStep(job);
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
    ...job.facts,
    input_content: content,
    input_content_type: 'application/json',
  };
}

/**
 * The decision recorded with a job, when it permitted the job as it is now. Policy is asked again before each dispatch, and
 * a velocity window that has filled up since must not refuse a job that was already counted in it.
 */
export function priorPermit({
  safety,
  job_hash,
}: Partial<Pick<JobRecord, 'safety' | 'job_hash'>>): Pick<PolicyRequest, 'prior_permit'> {
  const permits = safety?.decision === 'ALLOW' || safety?.decision === 'ALLOW_WITH_CONSTRAINTS';
  if (!permits || !safety.policy_snapshot || safety.job_hash !== job_hash) return {};
  return { prior_permit: { policy_snapshot: safety.policy_snapshot, rule_id: safety.rule_id ?? '' } };
}
