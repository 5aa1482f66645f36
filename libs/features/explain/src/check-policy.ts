import { approveJob, isGate, type Owner } from '@svc/contract';
import type { DecisionRecord, JobRecord } from '@svc/store';
import { requesterMayResolve, runStarterRule } from '@svc/approvals';
import { failMode } from '@svc/settings';
import { iso, type JobFacts, sinceMs, stageOf } from './job-facts';
import { blocked, type Look, notReached, passed } from './run-job-checks';

/** The rule that decided; policy's default when none fits. */
export const ruleOwner = (decision: Pick<DecisionRecord, 'rule_id' | 'decision'> | undefined): Owner => ({
  kind: 'policy_rule',
  id: decision?.rule_id ?? 'default_decision',
  ...(decision && { value: decision.decision }),
});

/** Is there an answer to be had? See docs/reference/policy.md#kernel. */
export function lookAtPolicyService(facts: JobFacts): Look {
  const { job, nowMs, breaker, config, settings, standing } = facts;
  const isOpen = breaker?.state === 'open';
  const breakerOwner: Owner = { kind: 'breaker', id: 'input', value: breaker?.state ?? 'unknown' };
  if (stageOf(job) !== 'queued') return passed('it was asked', breakerOwner);
  const wasSilent = job.waiting_reason === 'safety_unavailable';
  if (!isOpen && !wasSilent)
    return passed(`its circuit breaker is ${breaker?.state ?? 'not readable now'}`, breakerOwner);
  const mode = failMode(config, 'input_fail_mode', settings.policyFailMode);
  if (mode === 'open') return passed('it does not answer, and jobs are let through without it', modeOwner(facts));
  const cooldownMs = isOpen ? (breaker?.cooldown_remaining_ms ?? 0) : 0;
  const { dueMs } = standing.entry;
  return blocked({
    kind: 'policy_unavailable',
    what: isOpen
      ? `policy did not answer ${breaker?.failures ?? 0} times, so it is not asked for ${Math.ceil(cooldownMs / 1_000)} s`
      : 'policy did not answer',
    owner: isOpen ? breakerOwner : modeOwner(facts),
    how: 'policy must answer again; or its fail mode is set to open, and jobs run without a decision',
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

/** What policy said last. */
export function lookAtPolicy({ job, standing }: JobFacts): Look {
  const { safety } = job;
  if (!safety) return notReached('policy has not decided yet');
  const owner = ruleOwner(safety);
  const because = safety.reason ? `: ${safety.reason}` : '';
  if (stageOf(job) === 'queued' && job.waiting_reason === 'throttled') {
    const { dueMs } = standing.entry;
    return blocked({
      kind: 'throttled',
      what: `policy slows it down${because}`,
      owner,
      how: 'policy is asked again by itself then',
      since: iso(safety.checked_at / 1_000),
      clears_at: dueMs === undefined ? null : iso(dueMs),
    });
  }
  return passed(`policy said ${safety.decision}${because}`, owner);
}

/** A person's consent. See docs/reference/jobs.md#approvals. */
export function lookAtApproval(facts: JobFacts): Look {
  const { job } = facts;
  const { approval, safety, request } = job;
  if (stageOf(job) !== 'held') {
    if (!approval) return passed('nobody need approve it');
    const by = approval.resolved_by === undefined ? '' : ` by ${approval.resolved_by}`;
    return passed(`its approval is ${approval.status}${by}`, { kind: 'approval', id: job.id, value: approval.status });
  }
  const because = safety?.reason ? `: ${safety.reason}` : '';
  const path = approveJob.path.replace(':job_id', encodeURIComponent(job.id));
  return blocked({
    kind: 'approval',
    what: (isGate(job.topic) ? gateText(job) : 'a person must approve it') + because,
    owner: isGate(job.topic) ? { kind: 'gate', id: request.step_id ?? job.id } : ruleOwner(safety),
    how: `POST ${path} (or /reject), by ${approvers}${excluded(facts)}`,
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

/** Whom the rule on self-approval excludes, and the role that the gate was escalated to. */
function excluded({ job, config }: JobFacts): string {
  const { escalate_to: role, escalated = false } = job.approval?.gate ?? {};
  const raised = escalated && role !== undefined ? `; ${role} may decide too` : '';
  if (requesterMayResolve(job, runStarterRule(config))) return raised;
  const isOfRun = job.run !== undefined || job.approval?.gate !== undefined;
  return `, who must not have ${isOfRun ? 'started the run' : 'submitted it'}${raised}`;
}

const { access } = approveJob;
const approvers = `a caller with ${access.permission} and the role ${[access.roles].flat().join(' or ')}`;
