import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, moment, strings, text, trimmed } from '../fields';
import { shape } from '../shape';
import { agentId } from './agent-fields';

/** See docs/reference/agents.md#delegations. */
export interface DelegateBody {
  target_agent_id: string;
  ttl_seconds: number;
  allowed_actions?: string[];
  allowed_topics?: string[];
  parent_token?: string;
}
export interface DelegationToken {
  token: string;
  kid: string;
  expires_at: string;
  chain_depth: number;
  jti: string;
}

const fault = 'delegation_request_invalid';
const mayRead = { permission: 'delegation.read', roles: ['admin'] } as const;
const mayDelegate = { permission: 'agents.delegate', roles: ['admin'] } as const;
const MAX_TTL_SEC = 86_400;
const tokenText = Joi.string().min(1).max(65_536);
const jti = Joi.string().min(1).max(64);
const names = (description: string) =>
  Joi.array<string[]>().items(trimmed().min(1).max(256)).max(100).description(description);

export const delegate = endpoint({
  id: 'agents.delegate',
  method: 'post',
  path: '/api/v1/agents/:id/delegate',
  summary: 'Issue a token with which another agent acts for this one',
  description: 'For admins, and for the worker of the agent. It permits no more than the agent and the parent token.',
  access: mayDelegate,
  entitledBy: ['agent_identity'],
  audit: 'self',
  params: { id: agentId },
  body: shape<DelegateBody>({
    required: {
      target_agent_id: Joi.string().min(1).max(128).description('Agent that may use the token.'),
      ttl_seconds: Joi.number()
        .integer()
        .min(0)
        .max(MAX_TTL_SEC)
        .default(0)
        .description('Seconds until it expires; 0 = 900. Never later than the parent token.'),
    },
    optional: {
      allowed_actions: names(
        'Tools and capabilities; absent = all that the agent and the parent token have in common.',
      ),
      allowed_topics: names('Topics; absent = all that the agent and the parent token have in common.'),
      parent_token: tokenText.empty('').description('Token that the agent got from another agent.'),
    },
  }),
  violationCodes: {
    ...{ target_agent_id: fault, ttl_seconds: fault, allowed_actions: fault, allowed_topics: fault },
    parent_token: fault,
  },
  answer: {
    status: 201,
    body: shape<DelegationToken>({
      required: {
        token: text('The token, shown only in this response.'),
        kid: text('Id of the key that signed it.'),
        expires_at: text('Time at which it expires.'),
        chain_depth: count('Number of delegations in its chain.'),
        jti: text('Id of the token.'),
      },
    }),
  },
  errors: [
    fault,
    'delegation_scope_exceeded',
    'delegation_chain_too_deep',
    'delegation_agent_not_found',
    'delegation_rate_limited',
    'delegation_unavailable',
    'tier_limit_exceeded',
    'access_denied',
  ],
  otherTenant: 'absent',
});

export interface ChainLinkView {
  agent_id: string;
  issued_at: number;
  expires_at: number;
  jti: string;
  parent_jti: string;
  issued_by: string;
}

export const chainLink = shape<ChainLinkView>({
  required: {
    agent_id: text('Agent that delegates.'),
    issued_at: count('Unix seconds.'),
    expires_at: count('Unix seconds.'),
    jti: text('Id of its token.'),
    parent_jti: text('Token that it got; empty for the root.'),
    issued_by: text('svc for the root, else the agent that delegated to it.'),
  },
});

/** Reasons for which a token is refused. */
export const delegationFaults = [
  'malformed',
  'expired',
  'not_yet_valid',
  'audience_mismatch',
  'chain_too_deep',
  'scope_exceeded',
  'revoked',
  'unknown_kid',
  'bad_signature',
] as const;
export type DelegationFault = (typeof delegationFaults)[number];

export interface VerifyDelegationBody {
  token: string;
  expected_audience?: string;
}
export interface VerifiedDelegation {
  valid: boolean;
  error_code?: DelegationFault;
  sub?: string;
  aud?: string[];
  allowed_actions?: string[];
  allowed_topics?: string[];
  chain_depth?: number;
  delegation_chain?: ChainLinkView[];
}

export const verifyDelegation = endpoint({
  id: 'agents.verifyDelegation',
  method: 'post',
  path: '/api/v1/agents/verify-delegation',
  summary: 'Verify a delegation token',
  access: { roles: 'any' },
  audit: { type: 'delegation.verified', action: 'delegation.verify' },
  params: {},
  body: shape<VerifyDelegationBody>({
    required: { token: tokenText.description('The token.') },
    optional: {
      expected_audience: Joi.string().allow('').max(128).description('Agent that must be its audience; absent = any.'),
    },
  }),
  violationCodes: { token: fault, expected_audience: fault },
  answer: {
    status: 200,
    body: shape<VerifiedDelegation>({
      required: { valid: Joi.boolean().description('Whether it may be used now.') },
      optional: {
        error_code: Joi.string<DelegationFault>()
          .valid(...delegationFaults)
          .description('Why it is not valid.'),
        sub: text('Agent that delegates.'),
        aud: strings('Agents that may use it.'),
        allowed_actions: strings('Tools and capabilities that it permits.'),
        allowed_topics: strings('Topics that it permits.'),
        chain_depth: count('Number of delegations in its chain.'),
        delegation_chain: Joi.array().items(chainLink).description('Its chain, root first.'),
      },
    }),
  },
  errors: [fault, 'delegation_unavailable'],
});

export interface RevokeDelegationBody {
  jti: string;
  cascade: boolean;
  reason?: string;
}
export interface RevokedDelegation {
  jti: string;
  cascaded_count: number;
}

export const revokeDelegation = endpoint({
  id: 'agents.revokeDelegation',
  method: 'post',
  path: '/api/v1/agents/revoke-delegation',
  summary: 'Revoke a delegation token',
  description:
    'Tokens that were delegated further with it are refused in any case; with cascade they are marked as revoked too. Jobs that wait are not dispatched with it.',
  access: mayDelegate,
  entitledBy: ['agent_identity'],
  audit: 'self',
  params: {},
  body: shape<RevokeDelegationBody>({
    required: {
      jti: jti.description('Id of the token.'),
      cascade: Joi.boolean().default(true).description('Marks the tokens below it as revoked.'),
    },
    optional: { reason: Joi.string().allow('').max(512).description('Reason, for the audit.') },
  }),
  violationCodes: { jti: fault, cascade: fault, reason: fault },
  answer: {
    status: 200,
    body: shape<RevokedDelegation>({
      required: { jti: text('Id of the token.'), cascaded_count: count('Tokens below it that were revoked with it.') },
    }),
  },
  errors: [fault, 'delegation_token_not_found', 'delegation_cascade_too_deep', 'tier_limit_exceeded'],
});

export const delegationStatuses = ['all', 'active', 'revoked', 'expired'] as const;
export interface ListDelegationsQuery {
  status: (typeof delegationStatuses)[number];
  limit: number;
  scope?: string;
  before_expiry?: number;
  since_issued?: number;
  until_issued?: number;
  cursor?: string;
}
export interface DelegationView {
  jti: string;
  issuer: string;
  subject: string;
  audience: string;
  allowed_actions: string[];
  allowed_topics: string[];
  chain: ChainLinkView[];
  chain_depth: number;
  issued_at: string;
  expires_at: string;
  revoked: boolean;
  revoked_at?: string;
  revoked_reason?: string;
}
export interface DelegationPage {
  items: DelegationView[];
  next_cursor?: string;
}

const listQuery = shape<ListDelegationsQuery>({
  required: {
    status: Joi.string<ListDelegationsQuery['status']>()
      .valid(...delegationStatuses)
      .default('all')
      .description('all, active, revoked or expired.'),
    limit: Joi.number().integer().min(1).max(200).default(50).description('Page size.'),
  },
  optional: {
    scope: Joi.string().min(1).max(256).description('Part of an action or topic, in any case.'),
    before_expiry: moment('Only tokens that expire before this time.'),
    since_issued: moment('Only tokens issued from this time on.'),
    until_issued: moment('Only tokens issued up to this time.'),
    cursor: Joi.string().min(1).max(256).description('next_cursor of the page before.'),
  },
});
const listViolations = {
  status: fault,
  limit: fault,
  scope: fault,
  before_expiry: fault,
  since_issued: fault,
  until_issued: fault,
  cursor: fault,
} as const;
const page = shape<DelegationPage>({
  required: {
    items: Joi.array().items(
      shape<DelegationView>({
        required: {
          jti: text('Id of the token.'),
          issuer: text('Agent at the root of its chain.'),
          subject: text('Agent that delegates.'),
          audience: text('Agent that may use it.'),
          allowed_actions: strings('Tools and capabilities that it permits.'),
          allowed_topics: strings('Topics that it permits.'),
          chain: Joi.array().items(chainLink),
          chain_depth: count('Number of delegations in its chain.'),
          issued_at: text('Time at which it was issued.'),
          expires_at: text('Time at which it expires.'),
          revoked: Joi.boolean().description('Whether it, or one above it in its chain, was revoked.'),
        },
        optional: { revoked_at: text('Time of its revocation.'), revoked_reason: text('Reason.') },
      }),
    ),
  },
  optional: { next_cursor: text('Pass as cursor; absent on the last page.') },
});

export const listDelegations = endpoint({
  id: 'agents.delegations',
  method: 'get',
  path: '/api/v1/delegations',
  summary: 'Delegation tokens of the caller’s tenant, newest first',
  access: mayRead,
  entitledBy: ['agent_identity'],
  params: {},
  query: listQuery,
  violationCodes: listViolations,
  answer: { status: 200, body: page },
  errors: [fault, 'tier_limit_exceeded'],
});

export const listAgentDelegations = endpoint({
  id: 'agents.ownDelegations',
  method: 'get',
  path: '/api/v1/agents/:id/delegations',
  summary: 'Tokens that an agent delegated, newest first',
  access: mayRead,
  entitledBy: ['agent_identity'],
  params: { id: agentId },
  query: listQuery,
  violationCodes: listViolations,
  answer: { status: 200, body: page },
  errors: [fault, 'agent_not_found', 'tier_limit_exceeded'],
  otherTenant: 'absent',
});

export const delegationEndpoints = [
  delegate,
  verifyDelegation,
  revokeDelegation,
  listDelegations,
  listAgentDelegations,
] as const;
