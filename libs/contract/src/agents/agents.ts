import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, text } from '../fields';
import { shape } from '../shape';
import {
  agentId,
  agentStatuses,
  agentView,
  agentViolations,
  createAgentBody,
  type AgentStatus,
  type AgentView,
  type RiskTier,
  riskTiers,
  updateAgentBody,
} from './agent-fields';
import { delegationEndpoints } from './delegations';

const mayRead = { permission: 'agents.read', roles: ['admin'] } as const;
const mayWrite = { permission: 'agents.write', roles: ['admin'] } as const;
const fault = 'agent_request_invalid';
const opaqueCursor = Joi.string().min(1).max(256).description('Cursor of the page before.');
const pageSize = Joi.number().integer().min(1).max(200).default(50).description('Page size.');

export interface ListAgentsQuery {
  limit: number;
  cursor?: string;
  status?: AgentStatus;
  risk_tier?: RiskTier;
  team?: string;
}
export interface AgentPage {
  items: AgentView[];
  cursor?: string;
  next_cursor?: string;
}

export const listAgents = endpoint({
  id: 'agents.list',
  method: 'get',
  path: '/api/v1/agents',
  summary: 'Agents of the caller’s tenant, newest first',
  access: mayRead,
  entitledBy: ['agent_identity'],
  params: {},
  query: shape<ListAgentsQuery>({
    required: { limit: pageSize },
    optional: {
      cursor: opaqueCursor,
      status: Joi.string<AgentStatus>().valid(...agentStatuses).description('Only agents of this status.'),
      risk_tier: Joi.string<RiskTier>().valid(...riskTiers).description('Only agents of this tier.'),
      team: text('Only agents of this team.').max(128),
    },
  }),
  violationCodes: { limit: fault, cursor: fault, status: fault, risk_tier: fault, team: fault },
  answer: {
    status: 200,
    body: shape<AgentPage>({
      required: { items: Joi.array().items(agentView) },
      optional: {
        cursor: text('Cursor of the next page; absent on the last one.'),
        next_cursor: text('The same.'),
      },
    }),
  },
  errors: [fault, 'tier_limit_exceeded'],
}); // prettier-ignore

export const createAgent = endpoint({
  id: 'agents.create',
  method: 'post',
  path: '/api/v1/agents',
  summary: 'Register an agent',
  access: mayWrite,
  entitledBy: ['agent_identity'],
  audit: 'self',
  params: {},
  body: createAgentBody,
  violationCodes: agentViolations,
  answer: { status: 201, body: agentView },
  errors: [fault, 'tier_limit_exceeded', 'store_unavailable'],
});

export const getAgent = endpoint({
  id: 'agents.get',
  method: 'get',
  path: '/api/v1/agents/:id',
  summary: 'An agent',
  access: mayRead,
  entitledBy: ['agent_identity'],
  params: { id: agentId },
  answer: { status: 200, body: agentView },
  errors: ['agent_not_found', 'tier_limit_exceeded'],
  otherTenant: 'absent',
});

export const updateAgent = endpoint({
  id: 'agents.update',
  method: 'put',
  path: '/api/v1/agents/:id',
  summary: 'Change an agent, suspend it or activate it again',
  description:
    'Empty texts leave a field as it is; a list replaces the one before. Suspending or revoking an agent cancels its open jobs, ends the sessions of its workers and invalidates its delegations.',
  access: mayWrite,
  entitledBy: ['agent_identity'],
  audit: 'self',
  params: { id: agentId },
  body: updateAgentBody,
  violationCodes: agentViolations,
  answer: { status: 200, body: agentView },
  errors: [fault, 'agent_not_found', 'agent_version_conflict', 'tier_limit_exceeded', 'store_unavailable'],
  otherTenant: 'absent',
});

export const deleteAgent = endpoint({
  id: 'agents.delete',
  method: 'delete',
  path: '/api/v1/agents/:id',
  summary: 'Revoke an agent',
  description: 'Its record is kept with the status revoked, which is final. Its open jobs are cancelled.',
  access: mayWrite,
  entitledBy: ['agent_identity'],
  audit: 'self',
  params: { id: agentId },
  answer: { status: 204 },
  errors: ['agent_not_found', 'agent_version_conflict', 'tier_limit_exceeded', 'store_unavailable'],
  otherTenant: 'absent',
});

export interface AgentStats {
  agent_id: string;
  total_jobs_7d: number;
  denied_7d: number;
  last_active: number;
}

export const getAgentStats = endpoint({
  id: 'agents.stats',
  method: 'get',
  path: '/api/v1/agents/:id/stats',
  summary: 'Numbers of jobs and of denied calls of an agent',
  access: mayRead,
  entitledBy: ['agent_identity'],
  params: { id: agentId },
  answer: {
    status: 200,
    body: shape<AgentStats>({
      required: {
        agent_id: text('Agent id.'),
        total_jobs_7d: count('Jobs submitted on this day (UTC) and the six before.'),
        denied_7d: count('Of the same days: jobs denied by policy, and refused submissions.'),
        last_active: Joi.number().integer().description('Submission of its newest job, µs; 0 = none.'),
      },
    }),
  },
  errors: ['agent_not_found', 'tier_limit_exceeded'],
  otherTenant: 'absent',
});

export interface AgentTools {
  tools: { name: string; preapproved: boolean }[];
  agent_id: string;
  filtered: boolean;
  note?: string;
}

export const getAgentTools = endpoint({
  id: 'agents.tools',
  method: 'get',
  path: '/api/v1/agents/:id/tools',
  summary: 'Tools that an agent may call, by name',
  access: { permission: 'mcp.read', roles: ['admin'] },
  entitledBy: ['agent_identity'],
  params: { id: agentId },
  answer: {
    status: 200,
    body: shape<AgentTools>({
      required: {
        tools: Joi.array().items(
          shape<AgentTools['tools'][number]>({
            required: {
              name: text('Name or pattern.'),
              preapproved: Joi.boolean().description('Whether a call that changes something needs no approval.'),
            },
          }),
        ),
        agent_id: text('Agent id.'),
        filtered: Joi.boolean().description('Always true: only tools of this agent.'),
      },
      optional: { note: text('Why the list is empty.') },
    }),
  },
  errors: ['agent_identity_not_found', 'tier_limit_exceeded'],
  otherTenant: 'absent',
});

export interface DeniedEvent {
  timestamp: string;
  agent_id: string;
  tool_name: string;
  sub_reason: string;
  severity: string;
}
export interface DeniedEvents {
  agent_id: string;
  events: DeniedEvent[];
  limit: number;
}

export const listDeniedEvents = endpoint({
  id: 'agents.deniedEvents',
  method: 'get',
  path: '/api/v1/agents/:id/denied-events',
  summary: 'The newest 50 refusals of an agent, newest first',
  access: { permission: 'audit.read', roles: ['admin'] },
  entitledBy: ['agent_identity'],
  params: { id: agentId },
  answer: {
    status: 200,
    body: shape<DeniedEvents>({
      required: {
        agent_id: text('Agent id.'),
        events: Joi.array().items(
          shape<DeniedEvent>({
            required: {
              timestamp: text('Time of the refusal.'),
              agent_id: text('Agent id.'),
              tool_name: text('Capability of the job, else its topic.'),
              sub_reason: text('Reason.'),
              severity: text('Severity of its audit event.'),
            },
          }),
        ),
        limit: count('Largest number of events.'),
      },
    }),
  },
  errors: ['agent_not_found', 'tier_limit_exceeded'],
  otherTenant: 'absent',
});

export const agentEndpoints = [
  listAgents,
  createAgent,
  getAgent,
  updateAgent,
  deleteAgent,
  getAgentStats,
  getAgentTools,
  listDeniedEvents,
  ...delegationEndpoints,
] as const;
