import {
  acceptDelegation,
  type AgentJob,
  checkAgent,
  type CheckAgentDeps,
  type PermittedAgent,
  recordRefusal,
  type VerifyDeps,
} from '@svc/agents';
import { AppError, type Caller, type DelegationFault, type ErrorCode, type SubmitBody } from '@svc/contract';

const tokenCodes: Readonly<Record<DelegationFault, ErrorCode>> = {
  malformed: 'token_malformed',
  bad_signature: 'token_bad_signature',
  unknown_kid: 'token_unknown_kid',
  not_yet_valid: 'token_not_yet_valid',
  expired: 'token_expired',
  revoked: 'token_revoked',
  audience_mismatch: 'token_audience_mismatch',
  chain_too_deep: 'token_chain_too_deep',
  scope_exceeded: 'token_scope_exceeded',
};

/**
 * Requires that the agent of a job may submit it; a refusal is recorded.
 *
 * @returns undefined for a job without an agent
 * @throws agent_denied, and the codes of a refused delegation
 */
export async function requireAgent(deps: CheckAgentDeps, job: AgentJob): Promise<PermittedAgent | undefined> {
  const check = await checkAgent(deps, job);
  if (check?.kind !== 'refused') return check;
  const { reason } = check;
  if ('isDelegation' in check) {
    await recordRefusal(deps, job, check.reason, { type: 'delegation.rejected' });
    throw new AppError(tokenCodes[check.reason]);
  }
  await recordRefusal(deps, job, reason);
  throw new AppError('agent_denied', { sub_reason: reason, agent_id: job.request.agent_id });
}

export interface DelegatedDeps extends CheckAgentDeps, VerifyDeps {
  store: CheckAgentDeps['store'] & VerifyDeps['store'];
  clock: CheckAgentDeps['clock'];
  /** Whether a caller may use tokens for agents other than its own. */
  mayImpersonate(caller: Caller): boolean;
}

/**
 * The job with the delegation of its token, if it has one. Its agent is then the audience of the token.
 *
 * @throws access_denied, delegation_unavailable, and the codes of a refused token
 */
export async function withDelegation<Job extends AgentJob>(
  deps: DelegatedDeps,
  caller: Caller,
  job: Job,
  { delegation_token: token, delegation_audience_agent_id: named }: SubmitBody,
): Promise<Job> {
  if (!token) return job;
  const acting = job.request.agent_id;
  const audience = named || acting;
  if (audience === undefined) throw new AppError('token_audience_mismatch');
  if (audience !== acting && !deps.mayImpersonate(caller)) throw new AppError('access_denied');
  const outcome = await acceptDelegation(deps, token, { tenant: job.tenant, audience });
  if (outcome.kind === 'unavailable') throw new AppError('delegation_unavailable');
  if (outcome.kind === 'refused') {
    if (acting !== undefined) await recordRefusal(deps, job, outcome.fault, { type: 'delegation.rejected' });
    throw new AppError(tokenCodes[outcome.fault]);
  }
  const labels = { ...job.request.labels, agent_id: audience };
  return { ...job, request: { ...job.request, agent_id: audience, labels }, delegation: outcome.delegation };
}
