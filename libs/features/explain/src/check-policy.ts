import { approveJob, isGate, type Owner } from '@svc/contract';
import type { DecisionRecord, JobRecord } from '@svc/store';
import { requesterMayResolve, runStarterRule } from '@svc/approvals';
import { failMode } from '@svc/settings';
import { iso, type JobFacts, sinceMs, getStage } from './job-facts';
import { blocked, type CheckResult, notReached, passed } from './run-job-checks';

/** The rule that decided; the policy default when none matched. */
export const ruleOwner = (decision: Pick<DecisionRecord, 'rule_id' | 'decision'> | undefined): Owner => ({
  kind: 'policy_rule',
  id: decision?.rule_id ?? 'default_decision',
  ...(decision && { value: decision.decision }),
});

/** Whether the policy service is available. See docs/reference/policy.md#kernel. */
export function checkPolicyService(facts: JobFacts): CheckResult {
  const { job, nowMs, breaker, config, settings, position } = facts;
  const isOpen = breaker?.state === 'open';
  const breakerOwner: Owner = { kind: 'breaker', id: 'input', value: breaker?.state ?? 'unknown' };
  if (getStage(job) !== 'queued') return passed('policy was evaluated', breakerOwner);
  const wasUnavailable = job.waiting_reason === 'safety_unavailable';
  if (!isOpen && !wasUnavailable)
    return passed(`its circuit breaker is ${breaker?.state ?? 'unreadable'}`, breakerOwner);
  const mode = failMode(config, 'input_fail_mode', settings.policyFailMode);
  if (mode === 'open') return passed('policy is unavailable, and jobs run without a decision', modeOwner(facts));
  const cooldownMs = isOpen ? (breaker?.cooldown_remaining_ms ?? 0) : 0;
  const { dueMs } = position.entry;
  return blocked({
    kind: 'policy_unavailable',
    what: isOpen
      ? `policy failed ${breaker?.failures ?? 0} times; the circuit breaker is open for ${Math.ceil(cooldownMs / 1_000)} s`
      : 'policy was unavailable',
    owner: isOpen ? breakerOwner : modeOwner(facts),
    how: 'policy must become available, or its fail mode be set to open so that jobs run without a decision',
    since: iso(job.updated_at / 1_000),
    clears_at: null,
    ...(dueMs !== undefined && { next_try_at: iso(Math.max(dueMs, nowMs + cooldownMs)) }),
  }); // prettier-ignore
}

function modeOwner({ config, settings }: JobFacts): Owner {
  const standard = failMode(undefined, 'input_fail_mode', settings.policyFailMode);
  const mode = failMode(config, 'input_fail_mode', settings.policyFailMode);
  return mode === standard
    ? { kind: 'setting', id: 'POLICY_CHECK_FAIL_MODE', value: mode }
    : { kind: 'setting', id: 'scheduler.input_fail_mode', value: mode };
}

/** The last policy decision. */
export function checkPolicy({ job, position }: JobFacts): CheckResult {
  const { safety } = job;
  if (!safety) return notReached('policy has not decided yet');
  const owner = ruleOwner(safety);
  const because = safety.reason ? `: ${safety.reason}` : '';
  if (getStage(job) === 'queued' && job.waiting_reason === 'throttled') {
    const { dueMs } = position.entry;
    return blocked({
      kind: 'throttled',
      what: `policy throttles it${because}`,
      owner,
      how: 'policy is evaluated again automatically then',
      since: iso(safety.checked_at / 1_000),
      clears_at: dueMs === undefined ? null : iso(dueMs),
    });
  }
  return passed(`policy decided ${safety.decision}${because}`, owner);
}

/** Whether a required approval was given. See docs/reference/jobs.md#approvals. */
export function checkApproval(facts: JobFacts): CheckResult {
  const { job } = facts;
  const { approval, safety, request } = job;
  if (getStage(job) !== 'held') {
    if (!approval) return passed('it needs no approval');
    const by = approval.resolved_by === undefined ? '' : ` by ${approval.resolved_by}`;
    return passed(`its approval is ${approval.status}${by}`, { kind: 'approval', id: job.id, value: approval.status });
  }
  const because = safety?.reason ? `: ${safety.reason}` : '';
  const path = approveJob.path.replace(':job_id', encodeURIComponent(job.id));
  return blocked({
    kind: 'approval',
    what: (isGate(job.topic) ? gateText(job) : 'a person must approve it') + because,
    owner: isGate(job.topic) ? { kind: 'gate', id: request.step_id ?? job.id } : ruleOwner(safety),
    how: `POST ${path} (or /reject), by ${approvers}${exclusion(facts)}`,
    since: iso(sinceMs(facts)),
    clears_at: null,
  });
}

function gateText({ request, approval }: JobRecord): string {
  const { quorum = 1 } = approval?.gate ?? {};
  const given = (approval?.answers ?? []).filter(({ approved }) => approved).length;
  const step = `the gate ${request.step_id ?? ''} of its run`;
  return quorum > 1 ? `${step} has ${given} of ${quorum} approvals` : `${step} must be approved`;
}

/** Callers that the self-approval rule excludes, and the role that the gate was escalated to. */
function exclusion({ job, config }: JobFacts): string {
  const { escalate_to: role, escalated = false } = job.approval?.gate ?? {};
  const raised = escalated && role !== undefined ? `; ${role} may decide too` : '';
  if (requesterMayResolve(job, runStarterRule(config))) return raised;
  const isOfRun = job.run !== undefined || job.approval?.gate !== undefined;
  return `, who must not have ${isOfRun ? 'started the run' : 'submitted it'}${raised}`;
}

const { access } = approveJob;
const approvers = `a caller with ${access.permission} and the role ${[access.roles].flat().join(' or ')}`;
