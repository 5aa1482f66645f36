import type { AgentLists, AgentStatus } from '@svc/contract';
import type { AgentRecord, Store } from './index';
import { randomUUID } from 'node:crypto';

export interface GivenAgent {
  id: string;
  /** Writes the agent with other fields; nothing else is done, as if the process died after the write. */
  change(fields: Partial<AgentLists & { status: AgentStatus }>): Promise<void>;
}

/** Registers an agent of `ann` in the store, that may do everything. */
export async function giveAgent(
  { agents }: Pick<Store, 'agents'>,
  fields: Partial<AgentRecord['agent']> = {},
): Promise<GivenAgent> {
  const now = new Date().toISOString();
  let revision = 0;
  let agent: AgentRecord['agent'] = {
    ...{ id: randomUUID(), name: 'mailer', owner: 'ann', risk_tier: 'low', status: 'active' },
    ...{ allowed_topics: ['*'], allowed_tools: ['*'], allowed_pools: ['*'], allowed_servers: [] },
    ...{ allowed_resources: [], entitlements: [], preapproved_mutating_tools: [], data_classifications: [] },
    ...{ created_at: now, updated_at: now },
    ...fields,
  };
  const write = async (next: AgentRecord['agent']) => {
    const act = { event_type: 'agent_identity_change', action: 'agent.changed', severity: 'HIGH', identity: 'ann', extra: { by: 'test' } } as const;
    const outcome = await agents.write('acme', { agent: next, expected: revision, createdUs: Date.now() * 1_000, act });
    if (outcome.kind !== 'written') throw new Error(`the agent was not written: ${outcome.kind}`);
    agent = next;
    revision = outcome.revision;
  }; // prettier-ignore
  await write(agent);
  return { id: agent.id, change: (changed) => write({ ...agent, ...changed }) };
}
