import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import type { AgentDeps } from './agent-deps';
import { getAgent, getAgentStats, getAgentTools, listAgents, listDeniedEvents } from './read-agents';
import { createAgent, revokeAgent, updateAgent } from './write-agent';

/** Dependencies of these handlers. */
export interface AgentContext {
  agents: AgentDeps;
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
  handle(contract.listDeniedEvents, ({ params, caller, ctx }) => listDeniedEvents(ctx.agents, caller, params.id)),
];
