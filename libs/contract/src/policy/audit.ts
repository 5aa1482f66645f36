import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, count, moment, pageLimit, strings, stringMap, text } from '../fields';
import { shape } from '../shape';
import { policyRead, time } from './fields';

export const policyAuditResources = [
  'policy', 'output_rule', 'velocity_rule', 'job', 'run', 'workflow', 'pool', 'topic', 'schema', 'config', 'dlq', 'pack',
  'user', 'api_key', 'agent_identity', 'worker_credential', 'eval_dataset', 'eval_run', 'output',
] as const; // prettier-ignore
export type PolicyAuditResource = (typeof policyAuditResources)[number];

/** See docs/reference/policy.md#audit. */
export interface PolicyAuditEntry {
  id: string;
  action: string;
  resource_type: PolicyAuditResource;
  resource_id: string;
  resource_name: string;
  tenant_id: string;
  actor_id: string;
  role: string;
  auth_source: string;
  identity_source: string;
  identity_label: string;
  bundle_ids: string[];
  message: string;
  reason: string;
  extra: Record<string, string>;
  created_at: string;
  agent_id?: string;
  agent_name?: string;
  agent_risk_tier?: string;
  job_id?: string;
  rule_id?: string;
  decision?: string;
  matched_rule?: string;
  policy_version?: string;
  snapshot_before?: string;
  snapshot_after?: string;
  phase?: 'sync' | 'async';
  findings?: Record<string, unknown>[];
  original_ptr?: string;
  redacted_ptr?: string;
}
export interface PolicyAuditQuery {
  limit: number;
  offset: number;
  rule_id?: string;
  type?: string;
  action?: string;
  agent_id?: string;
  after?: number;
  before?: number;
  search?: string;
}
export interface PolicyAuditView {
  items: PolicyAuditEntry[];
  total: number;
  has_more: boolean;
  offset: number;
}

const entry = shape<PolicyAuditEntry>({
  required: {
    id: text('Id of the entry.'),
    action: text('Action, such as edit, publish or rollback.'),
    resource_type: Joi.string<PolicyAuditResource>().valid(...policyAuditResources),
    resource_id: text('Id of the resource.'),
    resource_name: text('Name of the resource.'),
    tenant_id: text('Tenant of the action.'),
    actor_id: text('Actor.'),
    role: text('Role of the caller.'),
    auth_source: text('Authentication method of the caller.'),
    identity_source: text('Source of the identity.'),
    identity_label: text('Label of the credential.'),
    bundle_ids: strings('Bundles that changed.'),
    message: text('Reason given by the actor.'),
    reason: text('Reason recorded by the service.'),
    extra: stringMap('Further details.'),
    created_at: time('Time of the entry.'),
  },
  optional: {
    agent_id: text('Agent that acted.'),
    agent_name: text('Name of the agent.'),
    agent_risk_tier: text('Risk tier of the agent.'),
    job_id: text('Job of the entry.'),
    rule_id: text('Rule of the entry.'),
    decision: text('The decision.'),
    matched_rule: text('Rule that matched.'),
    policy_version: text('Policy version of the decision.'),
    snapshot_before: text('Bundle snapshot before the change.'),
    snapshot_after: text('Bundle snapshot after the change.'),
    phase: Joi.string<'sync' | 'async'>().valid('sync', 'async'),
    findings: Joi.array().items(anyObject('Finding in a result.')),
    original_ptr: text('Pointer to the result.'),
    redacted_ptr: text('Pointer to the redacted copy.'),
  },
});

const filter = (description: string) => Joi.string().allow('').max(512).description(description);

export const policyAudit = endpoint({
  id: 'policy.audit',
  method: 'get',
  path: '/api/v1/policy/audit',
  summary: 'Policy audit log, newest first',
  description:
    'The newest 500 changes of the caller’s tenant, repairs of approvals included, and its newest 500 calls of evaluate, simulate and explain. With type=output: its newest withheld results (output_quarantine) with their findings, and releases and confirmations of them (output_release, output_confirm).',
  access: policyRead,
  params: {},
  query: shape<PolicyAuditQuery>({
    required: {
      limit: pageLimit(100),
      offset: count('Number of entries to skip.').max(100_000).default(0),
    },
    optional: {
      rule_id: filter('Only entries of this rule.'),
      type: filter('Only entries of this resource_type.'),
      action: filter('Only entries of this action.'),
      agent_id: filter('Only entries of this agent.'),
      after: moment('Only entries from this time on; RFC 3339, or ms since the epoch.'),
      before: moment('Only entries up to this time.'),
      search: filter('Only entries that contain this text, case-insensitively.'),
    },
  }),
  answer: {
    status: 200,
    body: shape<PolicyAuditView>({
      required: {
        items: Joi.array().items(entry),
        total: count('Number of entries that match the filters.'),
        has_more: Joi.boolean(),
        offset: count('Number of skipped entries.'),
      },
    }),
  },
  errors: [],
});

export const policyAuditEndpoints = [policyAudit] as const;
