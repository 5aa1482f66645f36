import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import type { AgentDeps } from './agent-deps';
import {
  type DelegationDeps,
  issueDelegation,
  listDelegations,
  revokeDelegation,
  verifyDelegation,
} from './delegations';
import { getAgent, getAgentStats, getAgentTools, listAgents, listDeniedEvents } from './read-agents';
import { createAgent, revokeAgent, updateAgent } from './write-agent';

/** Dependencies of these handlers. */
export interface AgentContext {
  agents: AgentDeps & DelegationDeps;
}

const handle = handlersFor<AgentContext>();

/** Agents, what they may do, and what they were refused. */
export const agentRoutes = [
  handle(contract.listAgents, ({ query, caller, ctx }) => listAgents(ctx.agents, caller, query)),
  handle(contract.createAgent, ({ body, caller, requestId, ctx }) =>
    createAgent(ctx.agents, { caller, requestId }, body),
  ),
  handle(contract.getAgent, ({ params, caller, ctx }) => getAgent(ctx.agents, caller, params.id)),
  handle(contract.updateAgent, ({ params, body, caller, requestId, ctx }) =>
    updateAgent(ctx.agents, { caller, requestId }, params.id, body),
  ),
  handle(contract.deleteAgent, ({ params, caller, requestId, ctx }) =>
    revokeAgent(ctx.agents, { caller, requestId }, params.id),
  ),
  handle(contract.getAgentStats, ({ params, caller, ctx }) => getAgentStats(ctx.agents, caller, params.id)),
  handle(contract.getAgentTools, ({ params, caller, ctx }) => getAgentTools(ctx.agents, caller, params.id)),
  handle(contract.delegate, ({ params, body, caller, requestId, ctx }) =>
    issueDelegation(ctx.agents, { caller, requestId }, params.id, body),
  ),
  handle(contract.verifyDelegation, ({ body, caller, ctx }) => verifyDelegation(ctx.agents, caller, body)),
  handle(contract.revokeDelegation, ({ body, caller, requestId, ctx }) =>
    revokeDelegation(ctx.agents, { caller, requestId }, body),
  ),
  handle(contract.listDelegations, ({ query, caller, ctx }) => listDelegations(ctx.agents, caller, query)),
  handle(contract.listAgentDelegations, ({ params, query, caller, ctx }) =>
    listDelegations(ctx.agents, caller, query, params.id),
  ),
  handle(contract.listDeniedEvents, ({ params, caller, ctx }) => listDeniedEvents(ctx.agents, caller, params.id)),
];
