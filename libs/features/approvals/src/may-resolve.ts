import { defaultSettings, runStarterRules, type Caller, type RunStarterRule } from '@svc/contract';
import type { JobRecord } from '@svc/store';
import { type EffectiveConfig, section } from '@svc/settings';
import { sharesIdentity } from '@svc/identity';
import { toConfigScope } from '@svc/decision';

type ApprovalSubject = Pick<JobRecord, 'submitter' | 'author' | 'run' | 'approval'>;

/**
 * Whether a caller may resolve the approval of a job, as far as self-approval is concerned. Callers who neither submitted the
 * job, nor started its run, nor wrote its workflow always may. See docs/reference/jobs.md#approvals.
 */
export function mayResolve(job: ApprovalSubject, caller: Caller, rule: RunStarterRule): boolean {
  if (isRequester(job, caller)) return requesterMayResolve(job, rule);
  return !sharesIdentity(job.author ?? '', caller.submitterId) || authorMayResolve(job, rule);
}

/**
 * Whether the requester of a held job may resolve its approval: never the submitter of a plain job; the starter of a run
 * according to `approvals.run_starter`. A step's `exclude_starter` overrides the setting.
 */
export function requesterMayResolve(
  { run, approval }: Omit<ApprovalSubject, 'submitter'>,
  rule: RunStarterRule,
): boolean {
  if (approval?.gate) return rule !== 'deny' && !approval.gate.exclude_starter;
  return run !== undefined && rule === 'allow';
}

/**
 * Whether the author of a workflow may resolve approvals of runs that others started. The author defines what the steps
 * do, so steps that policy holds need another person; an approval step is about the run, for which the starter is
 * responsible.
 */
const authorMayResolve = ({ approval }: ApprovalSubject, rule: RunStarterRule): boolean =>
  approval?.gate ? rule !== 'deny' : rule === 'allow';

/** The caller submitted the job, or started its run. */
function isRequester({ submitter, approval }: ApprovalSubject, { submitterId, principalId }: Caller): boolean {
  const starter = approval?.gate?.requester ?? '';
  return sharesIdentity(submitter, submitterId) || (starter !== '' && starter === principalId);
}

/** `approvals.run_starter` of the job's config documents. A definition's own `config` cannot relax it. */
export async function runStarterRuleFor(config: EffectiveConfig, job: JobRecord): Promise<RunStarterRule> {
  return runStarterRule(await config.at(toConfigScope(job, 'workflow')));
}

export function runStarterRule(config: Record<string, unknown> | undefined): RunStarterRule {
  const standard = defaultSettings.approvals.run_starter;
  const value: unknown = section(config, 'approvals', { ...defaultSettings.approvals }).run_starter;
  return runStarterRules.find((rule) => rule === value) ?? standard;
}
