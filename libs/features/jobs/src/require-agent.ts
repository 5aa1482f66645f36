import { type AgentJob, checkAgent, type CheckAgentDeps, type PermittedAgent, recordRefusal } from '@svc/agents';
import { AppError } from '@svc/contract';

/**
 * Requires that the agent of a job may submit it; a refusal is recorded.
 *
 * @returns undefined for a job without an agent
 * @throws agent_denied
 */
export async function requireAgent(deps: CheckAgentDeps, job: AgentJob): Promise<PermittedAgent | undefined> {
  const check = await checkAgent(deps, job);
  if (check?.kind !== 'refused') return check;
  await recordRefusal(deps, job, check.reason);
  throw new AppError('agent_denied', { sub_reason: check.reason, agent_id: job.request.agent_id });
}
