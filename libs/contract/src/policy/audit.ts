import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, count, pageLimit, strings, stringMap, text } from '../fields';
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
    action: text('What was done, such as edit, publish, rollback.'),
    resource_type: Joi.string<PolicyAuditResource>().valid(...policyAuditResources),
    resource_id: text('To what.'),
    resource_name: text('What it is called.'),
    tenant_id: text('Tenant it was done for.'),
    actor_id: text('Who did it.'),
    role: text('Role of the caller.'),
    auth_source: text('How the caller was known.'),
    identity_source: text('Where the identity comes from.'),
    identity_label: text('What the credential is called.'),
    bundle_ids: strings('Bundles that changed.'),
    message: text('Why, in the words of who did it.'),
    reason: text('Why, in those of the service.'),
    extra: stringMap('What else is known.'),
    created_at: time('When.'),
  },
  optional: {
    agent_id: text('Agent that acted.'),
    agent_name: text('Its name.'),
    agent_risk_tier: text('Its risk tier.'),
    job_id: text('Job it is about.'),
    rule_id: text('Rule it is about.'),
    decision: text('What was decided.'),
    matched_rule: text('By which rule.'),
    policy_version: text('Under which policy.'),
    snapshot_before: text('Snapshot of the bundles before.'),
    snapshot_after: text('Snapshot of the bundles after.'),
    phase: Joi.string<'sync' | 'async'>().valid('sync', 'async'),
    findings: Joi.array().items(anyObject('What was found in a result.')),
    original_ptr: text('Where the result is.'),
    redacted_ptr: text('Where its redacted copy is.'),
  },
});

/** RFC 3339, or ms since the epoch. */
const moment = (description: string) =>
  Joi.any()
    .custom((value: unknown, helpers) => {
      const ms = /^\d{1,15}$/.test(String(value)) ? Number(value) : Date.parse(String(value));
      return Number.isFinite(ms) ? ms : helpers.error('any.invalid');
    })
    .messages({ 'any.invalid': '{{#label}} must be a time, such as 2026-01-31T12:00:00Z or ms since the epoch' })
    .description(description) as Joi.Schema<number>;
const filter = (description: string) => Joi.string().allow('').max(512).description(description);

export const policyAudit = endpoint({
  id: 'policy.audit',
  method: 'get',
  path: '/api/v1/policy/audit',
  summary: 'Who changed policies, newest first',
  description:
    'The newest 500 changes of the caller’s tenant, repairs of approvals included, and its newest 500 calls of evaluate, simulate and explain. With type=output, its newest results that were withheld (output_quarantine), with what was found in them, and who released or confirmed them (output_release, output_confirm).',
  access: policyRead,
  params: {},
  query: shape<PolicyAuditQuery>({
    required: {
      limit: pageLimit(100),
      offset: count('How many to pass over.').max(100_000).default(0),
    },
    optional: {
      rule_id: filter('Only of this rule.'),
      type: filter('Only of this resource_type.'),
      action: filter('Only this action.'),
      agent_id: filter('Only of this agent.'),
      after: moment('Only from this time on; RFC 3339 or ms.'),
      before: moment('Only up to this time.'),
      search: filter('Only entries with this text in them, in any case.'),
    },
  }),
  answer: {
    status: 200,
    body: shape<PolicyAuditView>({
      required: {
        items: Joi.array().items(entry),
        total: count('How many fit the filters.'),
        has_more: Joi.boolean(),
        offset: count('How many were passed over.'),
      },
    }),
  },
  errors: [],
});

export const policyAuditEndpoints = [policyAudit] as const;
