import {
  type ActingDeps,
  type AgentJob,
  checkAgent,
  findActingAgent,
  type PermittedAgent,
  recordRefusal,
} from '@svc/agents';
import { AppError, type Caller } from '@svc/contract';
import type { RunState } from '@svc/workflow';
import type { TurnDeps } from './run-deps';

/** Metadata key of a run: the agent that started it, or that started the run it is part of. */
export const runAgent = 'agent_id';

export const getRunAgent = ({ metadata }: Pick<RunState, 'metadata'>): string | undefined => metadata?.[runAgent];

/**
 * The agent as which a caller starts a run. Each job of the run is checked against its scope.
 *
 * @param header `X-Agent-Id`
 * @returns undefined for a caller that acts as no agent
 * @throws access_denied; agent_denied while the agent is not active
 */
export async function findRunAgent(
  deps: ActingDeps,
  caller: Caller,
  header: string | undefined,
): Promise<string | undefined> {
  const agentId = await findActingAgent(deps, caller, { header, label: undefined });
  const fault = agentId === undefined ? undefined : await findAgentFault(deps, caller.tenant, agentId);
  if (fault) throw new AppError('agent_denied', { sub_reason: fault, agent_id: agentId });
  return agentId;
}

/** Why an agent may start no run; undefined when it is an active one of the tenant. */
export async function findAgentFault(
  { store }: Pick<ActingDeps, 'store'>,
  tenant: string,
  agentId: string,
): Promise<'no_identity' | 'agent_inactive' | undefined> {
  const record = await store.agents.get(agentId);
  if (record?.tenant !== tenant) return 'no_identity';
  return record.agent.status === 'active' ? undefined : 'agent_inactive';
}

/** The agent of a new job of a run, if it may run it. A refusal is recorded, once if the turn is repeated. */
export async function checkRunAgent(
  deps: TurnDeps,
  job: AgentJob,
): Promise<PermittedAgent | { kind: 'refused'; reason: string } | undefined> {
  const check = await checkAgent(deps, job);
  if (check?.kind === 'refused') await recordRefusal(deps, job, check.reason, { isRepeatable: true });
  return check;
}
