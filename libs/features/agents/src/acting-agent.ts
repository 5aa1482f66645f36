import { AppError, type Caller } from '@svc/contract';
import type { AgentRecord, Store } from '@svc/store';
import type { AgentLinks } from './agent-links';

export interface ActingDeps {
  store: Pick<Store, 'agents'>;
  links: Pick<AgentLinks, 'find'>;
}

/** How a request names the agent that acts. */
export interface NamedAgent {
  /** Header `X-Agent-Id`. */
  header: string | undefined;
  /** Label `agent_id`. */
  label: string | undefined;
}

/**
 * The agent that a caller acts as: the one whose worker it is, else the one in the header, which only its owner and admins may
 * name. A label must name the same agent. See docs/reference/agents.md#act-as-an-agent.
 *
 * @returns undefined for a caller that acts as no agent
 * @throws access_denied
 */
export async function findActingAgent(
  { store, links }: ActingDeps,
  caller: Caller,
  { header, label }: NamedAgent,
): Promise<string | undefined> {
  const linked = await links.find(caller.tenant, caller.principalId);
  const isAdmin = caller.role === 'admin' || caller.allowCrossTenant;
  let acting = linked;
  if (header && header !== linked) {
    // The worker of an agent does not leave the limits of that agent by the name of another one.
    if (linked !== undefined && !isAdmin) throw new AppError('access_denied');
    const record = await store.agents.get(header);
    if (!record || !mayActAs(record, caller, isAdmin)) throw new AppError('access_denied');
    acting = header;
  }
  if (label && label !== acting) throw new AppError('access_denied');
  return acting;
}

const mayActAs = ({ tenant, agent }: AgentRecord, caller: Caller, isAdmin: boolean): boolean =>
  tenant === caller.tenant && (isAdmin || (caller.principalId !== '' && agent.owner === caller.principalId));
