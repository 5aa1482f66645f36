import type { AuditAct, AuditEventType, DelegationFault } from '@svc/contract';
import { type AgentRefusal, findAgentRefusal, LEEWAY_SEC } from '@svc/delegation';
import type { Clock, Fleet } from '@svc/platform';
import type { PolicyRequest } from '@svc/policy';
import { poolsFor, toRoutingNeeds } from '@svc/routing';
import type { AgentRecord, JobDelegation, JobRecord, Store, StoredRequest } from '@svc/store';
import { checkChain } from './verify-token';

export interface CheckAgentDeps {
  store: Pick<Store, 'agents' | 'delegations'>;
  fleet: Pick<Fleet, 'pools'>;
  clock: Pick<Clock, 'nowMs'>;
}

/** A job of an agent, new or stored. */
export interface AgentJob {
  id: string;
  tenant: string;
  topic: string;
  request: Pick<StoredRequest, 'agent_id' | 'capability' | 'requires' | 'labels' | 'principal_id'>;
  /** The verified delegation by which its agent acts. */
  delegation?: JobDelegation | undefined;
}

/** An agent may run a job as it is now. */
export interface PermittedAgent {
  kind: 'permitted';
  /** Of the job's record: by them the scripts detect that an agent or the delegation has changed since. */
  fields: Pick<JobRecord, 'agents' | 'agent_pools' | 'delegation' | 'delegation_chain'>;
  /** Facts for policy. */
  facts: Pick<PolicyRequest, 'agent' | 'delegation'>;
}

export type RefusedAgent =
  | { kind: 'refused'; reason: 'no_identity' | AgentRefusal }
  | { kind: 'refused'; reason: DelegationFault; isDelegation: true };

export type AgentCheck = PermittedAgent | RefusedAgent;

/**
 * Checks a job against the agent that submitted it, and against its delegation, at submission and before each dispatch. See
 * docs/reference/agents.md#scope.
 *
 * @returns undefined for a job without an agent
 */
export async function checkAgent(deps: CheckAgentDeps, job: AgentJob): Promise<AgentCheck | undefined> {
  const { tenant, topic, request, delegation } = job;
  if (!request.agent_id) return undefined;
  const record = await deps.store.agents.get(request.agent_id);
  if (!record || record.tenant !== tenant) return { kind: 'refused', reason: 'no_identity' };
  const chainCheck = delegation && (await checkDelegation(deps, delegation, tenant));
  if (chainCheck && 'fault' in chainCheck) return refuseDelegation(chainCheck.fault);
  const candidates = poolsFor(deps.fleet.pools(), toRoutingNeeds(topic, request.requires, request.labels));
  const pools = 'pools' in candidates ? candidates.pools.map(({ name }) => name) : [];
  const scoped = { topic, capability: request.capability, pools };
  const { agent } = record;
  const reason = findAgentRefusal(agent, scoped, delegation && toScope(delegation));
  if (reason === undefined) return permit(deps, record, delegation, chainCheck?.agents ?? []);
  const isBeyond = reason === 'topic_not_in_allowed_list' || reason === 'tool_not_in_allowed_list';
  return delegation && isBeyond ? refuseDelegation('scope_exceeded') : { kind: 'refused', reason };
}

const refuseDelegation = (reason: DelegationFault): RefusedAgent => ({ kind: 'refused', reason, isDelegation: true });

const toScope = ({ scope: { allowed_actions, allowed_topics } }: JobDelegation) => ({
  allowed_tools: allowed_actions,
  allowed_topics,
});

async function checkDelegation(
  deps: CheckAgentDeps,
  { chain, scope }: JobDelegation,
  tenant: string,
): Promise<{ agents: AgentRecord[] } | { fault: DelegationFault }> {
  const nowSec = deps.clock.nowMs() / 1_000;
  if (chain.some((link) => link.expires_at + LEEWAY_SEC <= nowSec)) return { fault: 'expired' };
  return checkChain(deps, { ...scope, delegation_chain: chain }, tenant);
}

function permit(
  { clock }: CheckAgentDeps,
  acting: AgentRecord,
  delegation: JobDelegation | undefined,
  chain: readonly AgentRecord[],
): PermittedAgent {
  const { risk_tier, data_classifications, allowed_pools } = acting.agent;
  const agent = { risk_tier, data_classifications };
  const fields = { agents: toAgents([acting, ...chain]), agent_pools: toPoolLines(allowed_pools) };
  if (!delegation) return { kind: 'permitted', fields, facts: { agent } };
  const ends = delegation.chain.map(({ jti, expires_at }) => `${jti}:${(expires_at + LEEWAY_SEC) * 1_000}`);
  const nowUs = clock.nowMs() * 1_000;
  const verified = delegation.verified_at > 0 ? { reverified_at_dispatch: nowUs } : { verified_at: nowUs };
  return {
    kind: 'permitted',
    fields: { ...fields, delegation: { ...delegation, ...verified }, delegation_chain: ends.join(' ') },
    facts: {
      agent,
      delegation: {
        chain: delegation.chain.map(({ agent_id }) => agent_id),
        depth: delegation.chain_depth,
        scope: delegation.scope.allowed_actions,
      },
    },
  };
}

/** `<id>:<revision> ...`, each agent once. */
export const toAgents = (records: readonly AgentRecord[]): string =>
  [...new Set(records.map(({ agent, revision }) => `${agent.id}:${revision}`))].join(' ');

const toPoolLines = (pools: readonly string[]): string => (pools.includes('*') ? '*' : `\n${pools.join('\n')}\n`);

/**
 * Records a refusal in the list of the agent, in its numbers and in the audit.
 *
 * @param type `agent.denied`, or what became of its delegation
 * @param isRepeatable whether the caller may be repeated for the same job after a crash; the refusal is then recorded once
 */
export async function recordRefusal(
  { store, clock }: Pick<CheckAgentDeps, 'store' | 'clock'>,
  { id, tenant, topic, request, delegation }: AgentJob,
  reason: string,
  { type = 'agent.denied', isRepeatable = false }: { type?: AuditEventType; isRepeatable?: boolean } = {},
): Promise<void> {
  const severity = 'HIGH';
  const agentId = request.agent_id ?? '';
  const tool = request.capability || topic;
  const act: AuditAct = {
    event_type: type,
    action: type,
    severity,
    identity: request.principal_id,
    agent_id: agentId,
    job_id: id,
    decision: 'DENY',
    reason,
    extra: { topic, tool_name: tool, sub_reason: reason, ...(delegation && { jti: delegation.jti }) },
  };
  const timestamp = new Date(clock.nowMs()).toISOString();
  const refusal = { timestamp, agent_id: agentId, tool_name: tool, sub_reason: reason, severity } as const;
  await store.agents.deny(tenant, refusal, act, isRepeatable ? id : '');
}
