import { defaultSettings, runStarterRules, type Caller, type RunStarterRule } from '@svc/contract';
import type { JobRecord } from '@svc/store';
import { section, type EffectiveConfig } from '../effective-config';

type HeldJob = Pick<JobRecord, 'submitter' | 'run' | 'approval'>;

/**
 * Whether a caller may resolve the approval of a job, as far as self-approval is concerned. Callers who neither submitted the
 * job nor started its run always may. Core contract 13.2.
 */
export const mayResolve = (job: HeldJob, caller: Caller, rule: RunStarterRule): boolean =>
  !isRequester(job, caller) || requesterMayResolve(job, rule);

/**
 * Whether those who asked for a held job may resolve its approval themselves: never the submitter of a plain job; the
 * starter of a run as `approvals.run_starter` says. A step's `exclude_starter` holds whatever the setting is.
 */
export function requesterMayResolve({ run, approval }: Omit<HeldJob, 'submitter'>, rule: RunStarterRule): boolean {
  if (approval?.gate) return rule !== 'deny' && !approval.gate.exclude_starter;
  return run !== undefined && rule === 'allow';
}

/** The caller submitted the job, or started the run whose step it is. */
function isRequester({ submitter, approval }: HeldJob, { submitterId, principalId }: Caller): boolean {
  const starter = approval?.gate?.requester ?? '';
  return sharesIdentity(submitter, submitterId) || (starter !== '' && starter === principalId);
}

/** Same API key or same principal: `apikey:<hash>|principal:<id>`. */
export function sharesIdentity(submitter: string, decider: string): boolean {
  const parts = (text: string) => text.split('|').filter((part) => !part.endsWith(':'));
  const theirs = new Set(parts(submitter));
  return parts(decider).some((part) => theirs.has(part));
}

/** `approvals.run_starter` of the job's config documents. A definition's own `config` cannot relax it. */
export async function runStarterRuleFor(config: EffectiveConfig, job: JobRecord): Promise<RunStarterRule> {
  const { team_id: team, workflow_id: workflow } = job.request;
  return runStarterRule(await config.at({ tenant: job.tenant, team, workflow }));
}

export function runStarterRule(config: Record<string, unknown> | undefined): RunStarterRule {
  const standard = defaultSettings.approvals.run_starter;
  const value: unknown = section(config, 'approvals', { ...defaultSettings.approvals }).run_starter;
  return runStarterRules.find((rule) => rule === value) ?? standard;
}
