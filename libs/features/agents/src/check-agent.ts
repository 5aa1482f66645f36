import type { AuditAct } from '@svc/contract';
import { type AgentRefusal, findAgentRefusal } from '@svc/delegation';
import type { Clock, Fleet } from '@svc/platform';
import type { PolicyRequest } from '@svc/policy';
import { poolsFor, toRoutingNeeds } from '@svc/routing';
import type { JobRecord, Store, StoredRequest } from '@svc/store';

export interface CheckAgentDeps {
  store: Pick<Store, 'agents'>;
  fleet: Pick<Fleet, 'pools'>;
  clock: Pick<Clock, 'nowMs'>;
}

/** A job of an agent, new or stored. */
export interface AgentJob {
  id: string;
  tenant: string;
  topic: string;
  request: Pick<StoredRequest, 'agent_id' | 'capability' | 'requires' | 'labels' | 'principal_id'>;
}

export type RefusalReason = 'no_identity' | AgentRefusal;

/** An agent may run a job as it is now. */
export interface PermittedAgent {
  kind: 'permitted';
  /** Of the job's record: by them the scripts detect that an agent has changed since. */
  fields: Pick<JobRecord, 'agents' | 'agent_pools'>;
  /** Facts for policy. */
  facts: NonNullable<PolicyRequest['agent']>;
}

export type AgentCheck = PermittedAgent | { kind: 'refused'; reason: RefusalReason };

/**
 * Checks a job against the agent that submitted it, at submission and before each dispatch. See
 * docs/reference/agents.md#scope.
 *
 * @returns undefined for a job without an agent
 */
export async function checkAgent(deps: CheckAgentDeps, job: AgentJob): Promise<AgentCheck | undefined> {
  const { tenant, topic, request } = job;
  if (!request.agent_id) return undefined;
  const record = await deps.store.agents.get(request.agent_id);
  if (!record || record.tenant !== tenant) return { kind: 'refused', reason: 'no_identity' };
  const { agent, revision } = record;
  const candidates = poolsFor(deps.fleet.pools(), toRoutingNeeds(topic, request.requires, request.labels));
  const pools = 'pools' in candidates ? candidates.pools.map(({ name }) => name) : [];
  const reason = findAgentRefusal(agent, { topic, capability: request.capability, pools });
  if (reason) return { kind: 'refused', reason };
  return {
    kind: 'permitted',
    fields: { agents: `${agent.id}:${revision}`, agent_pools: toPoolLines(agent.allowed_pools) },
    facts: { risk_tier: agent.risk_tier, data_classifications: agent.data_classifications },
  };
}

const toPoolLines = (pools: readonly string[]): string => (pools.includes('*') ? '*' : `\n${pools.join('\n')}\n`);

/** Records a refusal in the list of the agent, in its numbers and in the audit. */
export async function recordRefusal(
  { store, clock }: Pick<CheckAgentDeps, 'store' | 'clock'>,
  { id, tenant, topic, request }: AgentJob,
  reason: string,
): Promise<void> {
  const severity = 'HIGH';
  const agentId = request.agent_id ?? '';
  const tool = request.capability || topic;
  const act: AuditAct = {
    event_type: 'agent.denied',
    action: 'agent.denied',
    severity,
    identity: request.principal_id,
    agent_id: agentId,
    job_id: id,
    decision: 'DENY',
    reason,
    extra: { topic, tool_name: tool, sub_reason: reason },
  };
  const timestamp = new Date(clock.nowMs()).toISOString();
  await store.agents.deny(tenant, { timestamp, agent_id: agentId, tool_name: tool, sub_reason: reason, severity }, act);
}
