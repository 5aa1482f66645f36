import type { AgentRecord } from '@svc/store';
import type { BlockerCase } from './blocker-case.testing';
import type { AgentFacts } from './job-facts';
import { factsWith } from './job-facts.testing';

type Status = AgentRecord['agent']['status'];
type Refusal = Extract<AgentFacts['check'], { kind: 'refused' }>;

/** An agent that refuses a job. */
export const refusingAgent = (status: Status, check: Refusal): AgentFacts => ({
  record: {
    tenant: 'acme',
    revision: 2,
    agent: {
      ...{ id: 'a1', name: 'mailer', owner: 'uma', risk_tier: 'high', status, created_at: '', updated_at: '' },
      ...{ allowed_topics: [], allowed_pools: [], allowed_servers: [], allowed_tools: [], allowed_resources: [] },
      ...{ entitlements: [], preapproved_mutating_tools: [], data_classifications: [] },
    },
  },
  check,
});
const request = { agent_id: 'a1' };
const delegation = {
  ...{ jti: 'd1', audience: 'a1', root_issuer: 'a0', parent_issuer: 'a0', chain_depth: 1, chain: [] },
  ...{ scope: { allowed_actions: [], allowed_topics: [] }, expires_at: 0, verified_at: 0 },
};

/** Jobs that their agent or their delegation does not permit. */
export const agentCases: BlockerCase[] = [
  {
    blocker: 'agent_refused',
    name: 'its agent was suspended',
    facts: factsWith({
      request,
      facts: { agent: refusingAgent('suspended', { kind: 'refused', reason: 'agent_inactive' }) },
    }),
    check: 'agent',
    owner: { kind: 'agent', id: 'a1', value: 'suspended' },
    what: /agent_inactive; it ends CANCELLED/,
  },
  {
    blocker: 'agent_refused',
    name: 'its agent does not exist',
    facts: factsWith({ request, facts: { agent: { check: { kind: 'refused', reason: 'no_identity' } } } }),
    check: 'agent',
    owner: { kind: 'agent', id: 'a1', value: 'unknown' },
    what: /no_identity; it ends DENIED/,
  },
  {
    blocker: 'agent_refused',
    name: 'its delegation was revoked',
    facts: factsWith({
      request,
      job: { delegation },
      facts: { agent: refusingAgent('active', { kind: 'refused', reason: 'revoked', isDelegation: true }) },
    }),
    check: 'agent',
    owner: { kind: 'delegation', id: 'd1' },
    what: /its delegation does not permit it: revoked/,
  },
];
