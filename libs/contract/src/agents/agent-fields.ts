import Joi from 'joi';
import { shape } from '../shape';
import { text, trimmed } from '../fields';

export const riskTiers = ['low', 'medium', 'high', 'critical'] as const;
export type RiskTier = (typeof riskTiers)[number];
export const agentStatuses = ['active', 'suspended', 'revoked'] as const;
export type AgentStatus = (typeof agentStatuses)[number];

/** Names of what an agent may use. An empty list permits nothing. See docs/reference/agents.md#scope. */
export interface AgentLists {
  allowed_topics: string[];
  allowed_pools: string[];
  allowed_servers: string[];
  allowed_tools: string[];
  allowed_resources: string[];
  entitlements: string[];
  preapproved_mutating_tools: string[];
  data_classifications: string[];
}

export interface AgentView extends AgentLists {
  id: string;
  name: string;
  owner: string;
  description?: string;
  team?: string;
  risk_tier: RiskTier;
  status: AgentStatus;
  created_at: string;
  updated_at: string;
  last_active?: number;
}

const MAX_NAME_CHARS = 128;
const MAX_OWNER_CHARS = 256;
const MAX_DESCRIPTION_CHARS = 2_000;
const MAX_ENTRIES = 100;
const MAX_ENTRY_CHARS = 256;

const listTexts: Record<keyof AgentLists, string> = {
  allowed_topics: 'Topics of its jobs; * stands for any characters.',
  allowed_pools: 'Pools that may run its jobs; * = all of them.',
  allowed_servers: 'MCP servers that it may call.',
  allowed_tools: 'Tools that it may call, and capabilities of its jobs; * stands for any characters.',
  allowed_resources: 'Resources that it may use.',
  entitlements: 'Entitlements that it holds.',
  preapproved_mutating_tools: 'Tools that it may call without an approval.',
  data_classifications: 'Classes of data that it may process.',
};
const listNames = Object.keys(listTexts) as (keyof AgentLists)[];

const lists = (schema: (description: string) => Joi.ArraySchema<string[]>) =>
  Object.fromEntries(listNames.map((name) => [name, schema(listTexts[name])])) as Record<
    keyof AgentLists,
    Joi.ArraySchema<string[]>
  >;

const listView = lists((description) => Joi.array<string[]>().items(Joi.string()).description(description));
const listInput = lists((description) =>
  Joi.array<string[]>().items(trimmed().min(1).max(MAX_ENTRY_CHARS)).max(MAX_ENTRIES).description(description),
);

export const agentId = Joi.string().min(1).max(MAX_NAME_CHARS).description('Agent id.');
const tier = Joi.string<RiskTier>().valid(...riskTiers);
const status = Joi.string<AgentStatus>().valid(...agentStatuses);

export const agentView = shape<AgentView>({
  required: {
    id: text('Agent id.'),
    name: text('Name.'),
    owner: text('Principal that is responsible for it, and may act as it.'),
    risk_tier: tier.description('Risk tier, for policy.'),
    status: status.description('Only active agents may act.'),
    ...listView,
    created_at: text('Time of its registration.'),
    updated_at: text('Time of its last change.'),
  },
  optional: {
    description: text('Description.'),
    team: text('Team.'),
    last_active: Joi.number().integer().description('Submission of its newest job, µs; only in lists.'),
  },
});

const names = {
  description: trimmed().allow('').max(MAX_DESCRIPTION_CHARS).description('Description.'),
  team: trimmed().allow('').max(MAX_NAME_CHARS).description('Team.'),
};

export interface CreateAgentBody extends AgentLists {
  name: string;
  owner: string;
  risk_tier: RiskTier;
  status: AgentStatus;
  description?: string;
  team?: string;
}

export const createAgentBody = shape<CreateAgentBody>({
  required: {
    name: trimmed().min(1).max(MAX_NAME_CHARS).description('Name.'),
    owner: trimmed()
      .min(1)
      .max(MAX_OWNER_CHARS)
      .description('Principal that is responsible for it, and may act as it.'),
    risk_tier: tier.description('Risk tier, for policy.'),
    status: status.default('active').description('Only active agents may act.'),
    ...lists((description) =>
      Joi.array<string[]>()
        .items(trimmed().min(1).max(MAX_ENTRY_CHARS))
        .max(MAX_ENTRIES)
        .default([])
        .description(description),
    ),
  },
  optional: names,
});

export interface UpdateAgentBody extends Partial<AgentLists> {
  name?: string;
  owner?: string;
  description?: string;
  team?: string;
  risk_tier?: RiskTier | '';
  status?: AgentStatus | '';
}

export const updateAgentBody = shape<UpdateAgentBody>({
  required: {},
  optional: {
    ...names,
    name: trimmed().allow('').max(MAX_NAME_CHARS).description('Name.'),
    owner: trimmed().allow('').max(MAX_OWNER_CHARS).description('Principal that is responsible for it.'),
    risk_tier: Joi.string<RiskTier | ''>()
      .valid('', ...riskTiers)
      .description('Risk tier.'),
    status: Joi.string<AgentStatus | ''>()
      .valid('', ...agentStatuses)
      .description('suspended and revoked stop its jobs, sessions and delegations; revoked is final.'),
    ...listInput,
  },
});

/** Every field of the bodies is reported with the same code. */
export const agentViolations = Object.fromEntries(
  ['name', 'owner', 'description', 'team', 'risk_tier', 'status', ...listNames].map((field) => [
    field,
    'agent_request_invalid' as const,
  ]),
);
