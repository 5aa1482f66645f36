import { AppError, everyTenant, type AuditAct, type Caller, type TenantScope } from '@svc/contract';
import type { Clock, Random } from '@svc/platform';
import type { AgentRecord, Store } from '@svc/store';

export interface AgentDeps {
  store: Pick<Store, 'agents'>;
  clock: Pick<Clock, 'nowMs' | 'nowUs'>;
  random: Pick<Random, 'uuid'>;
  /**
   * Ends the jobs and sessions of an agent that is no longer active, or lets its workers work again. Resolves when that is
   * done, or takes longer than a request should; a loop completes what is left.
   */
  statusChanged(agentId: string): Promise<void>;
}

/**
 * The record of an agent that the caller may see.
 *
 * @throws agent_not_found, also for an agent of another tenant
 */
export async function findAgent(
  { store }: Pick<AgentDeps, 'store'>,
  scope: TenantScope,
  id: string,
): Promise<AgentRecord> {
  const record = await store.agents.get(id);
  if (!record || (scope !== everyTenant && record.tenant !== scope)) throw new AppError('agent_not_found');
  return record;
}

/** The request that an audit event records. */
export interface ActContext {
  caller: Caller;
  requestId: string;
}

/** An audit event about an agent. */
export const buildAct = (
  action: string,
  { caller, requestId }: ActContext,
  { agent }: Pick<AgentRecord, 'agent'>,
  severity: AuditAct['severity'],
): AuditAct => ({
  event_type: 'agent_identity_change',
  action,
  severity,
  identity: caller.principalId || caller.submitterId,
  agent_id: agent.id,
  extra: {
    request_id: requestId,
    role: caller.role,
    key_id: caller.keyId,
    resource_type: 'agent_identity',
    resource_id: agent.id,
    agent_name: agent.name,
    owner: agent.owner,
    risk_tier: agent.risk_tier,
    status: agent.status,
  },
});
