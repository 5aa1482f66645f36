import type { PolicyDecision } from '@svc/policy';
import type { PolicyCall } from './evaluate-policy';
import { type PolicyAuditDeps, recordPolicyCall } from '@svc/audit';

/** Spelling of decisions in audit entries and their filters. */
const spellings = {
  ALLOW: 'allow',
  DENY: 'deny',
  REQUIRE_APPROVAL: 'require_approval',
  THROTTLE: 'throttle',
  ALLOW_WITH_CONSTRAINTS: 'constrain',
} as const satisfies Record<PolicyDecision['decision'], string>;

/**
 * Appends a call of evaluate, simulate or explain, or its block by an action check, to the policy audit.
 * See docs/reference/policy.md#action-checks.
 */
export async function auditPolicyCall(deps: PolicyAuditDeps, call: PolicyCall): Promise<void> {
  const { caller, request } = call;
  const about = {
    resource_type: 'policy' as const,
    resource_id: request.topic,
    ...(request.job_id && { job_id: request.job_id }),
    ...(request.labels?.['agent_id'] && { agent_id: request.labels['agent_id'] }),
  };
  if ('blocked' in call) {
    const { finding, details } = call.blocked;
    const extra = Object.fromEntries(Object.entries(details).map(([name, value]) => [name, String(value)]));
    const decision = finding.kind === 'human' ? 'require_approval' : 'deny';
    await recordPolicyCall(deps, caller, {
      ...about,
      action: 'actiongate.denied',
      reason: finding.reason,
      decision,
      matched_rule: finding.gate,
      extra: { ...extra, asked: call.action },
    });
    return;
  }
  const { decision, reason, rule_id, policy_snapshot } = call.decision;
  await recordPolicyCall(deps, caller, {
    ...about,
    action: call.action,
    reason,
    decision: spellings[decision],
    matched_rule: rule_id,
    policy_version: policy_snapshot,
    ...(request.tenant !== caller.tenant && { extra: { tenant: request.tenant } }),
  });
}
