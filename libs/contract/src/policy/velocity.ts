import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, strings, text, trimmed } from '../fields';
import { shape } from '../shape';
import { lastWritten, policyRead, policyWrite, signedFields, time, type Signed } from './fields';
import { fragmentErrors, type FragmentError } from './rules';

export const velocityDecisions = ['deny', 'require_approval', 'throttle', 'allow'] as const;
export type VelocityDecision = (typeof velocityDecisions)[number];

export interface VelocityMatch {
  topics: string[];
  tenants: string[];
  risk_tags: string[];
}
/** See docs/reference/policy.md#velocity. */
export interface VelocityFields {
  name: string;
  match: VelocityMatch;
  window: string;
  key: string;
  threshold: number;
  decision: VelocityDecision;
  reason: string;
  throttle_duration?: string;
}
export interface VelocityRuleView extends VelocityFields {
  id: string;
  enabled: boolean;
  created_at?: string;
  updated_at?: string;
}
export interface VelocityBody extends VelocityFields, Signed {
  id?: string;
  enabled?: boolean;
}
export interface VelocityRulesView {
  items: VelocityRuleView[];
  count: number;
  limit: number;
  updated_at: string | null;
  upgrade_url: string;
  errors?: FragmentError[];
}

const words = (what: string) => Joi.array().items(trimmed().min(1).max(512)).max(100).default([]).description(what);
const match = shape<VelocityMatch>({
  required: {
    topics: words('Topics, which may hold *.'),
    tenants: words('Tenants.'),
    risk_tags: words('Risk tags, any of which.'),
  },
});
const decision = Joi.string<VelocityDecision>().valid(...velocityDecisions);
const duration = trimmed().max(32);
const id = Joi.string()
  .pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
  .messages({
    'string.pattern.base': '{{#label}} must be up to 64 letters, digits, ., _ and -, beginning with a letter or digit',
  });

const fields = {
  name: trimmed().max(120).description('Display name.'),
  match: match
    .default({ topics: [], tenants: [], risk_tags: [] })
    .description('Requests that the rule counts; empty = all.'),
  window: duration.description('Whole seconds from 1s to 24h, such as 5m.'),
  key: trimmed().max(512).description('Fields that group requests, such as tenant:labels.customer.'),
  threshold: Joi.number()
    .integer()
    .min(1)
    .max(1_000_000_000)
    .description('Maximum number of requests within the window.'),
  decision: decision.description('Action for requests over the limit.'),
  reason: trimmed().max(4_096).description('Reason returned to the caller.'),
};
const throttle = duration.description('Time after which a throttled request may be retried; the window when omitted.');
const view = shape<VelocityRuleView>({
  required: {
    id: text('Rule id.'),
    name: text('Display name.'),
    match: shape<VelocityMatch>({
      required: { topics: strings('Topics.'), tenants: strings('Tenants.'), risk_tags: strings('Risk tags.') },
    }),
    window: text('Length of the window.'),
    key: text('Fields that group requests.'),
    threshold: count('Maximum number of requests within the window.'),
    decision,
    reason: text('Reason returned to the caller.'),
    enabled: Joi.boolean(),
  },
  optional: {
    throttle_duration: text('Time after which a throttled request may be retried.'),
    created_at: time('Creation time, if recorded.'),
    updated_at: time('Time of the last write, if recorded.'),
  },
});
const body = shape<VelocityBody>({
  required: fields,
  optional: {
    ...signedFields,
    id: id.description('Derived from the name when omitted.'),
    enabled: Joi.boolean().description(
      'Whether the rule is in effect; when omitted, true for a new rule and unchanged for an existing one.',
    ),
    throttle_duration: throttle,
  },
});
const violationCodes = Object.fromEntries(
  [...Object.keys(fields), 'id', 'enabled', 'throttle_duration'].map((field) => [
    field,
    'velocity_rule_invalid' as const,
  ]),
);
const entitled = 'tier_limit_exceeded' as const;
const writes = [entitled, 'velocity_rule_invalid', 'policy_version_conflict', 'policy_signing_required'] as const;
const velocityCounting =
  'Every request that reaches the rule counts, including requests that the rule refuses. A request is refused when more ' +
  'than `threshold` requests are in the window up to and including it; requests that arrive later do not affect it. An ' +
  'accepted job is checked again before dispatch, and the limit is not applied to it again while the policy is unchanged.';
const path = '/api/v1/policy/velocity-rules/:rule_id' as const;
const params = { rule_id: Joi.string().min(1).max(64).description('Rule id.') };

export const listVelocityRules = endpoint({
  id: 'policy.listVelocityRules',
  method: 'get',
  path: '/api/v1/policy/velocity-rules',
  summary: 'Velocity rules, last changed first',
  owner: 'installation',
  access: policyRead,
  entitledBy: ['velocity_rules'],
  params: {},
  answer: {
    status: 200,
    body: shape<VelocityRulesView>({
      required: {
        items: Joi.array().items(view),
        count: count('Number of rules.'),
        limit: Joi.number().integer().description('Number of rules that the plan allows; -1 = no limit.'),
        updated_at: lastWritten('Time of the last write to any rule.'),
        upgrade_url: text('URL to upgrade the plan.'),
      },
      optional: { errors: fragmentErrors },
    }),
  },
  errors: [entitled],
});

export const addVelocityRule = endpoint({
  id: 'policy.addVelocityRule',
  method: 'post',
  path: '/api/v1/policy/velocity-rules',
  summary: 'Create a velocity rule',
  description: velocityCounting,
  owner: 'installation',
  access: policyWrite,
  entitledBy: ['velocity_rules'],
  audit: { type: 'safety.policy_change', action: 'velocity_rule.add', resource: ['velocity_rule', 'id'] },
  params: {},
  body,
  violationCodes,
  answer: { status: 201, body: view },
  errors: [...writes, 'velocity_rule_conflict'],
});

export const putVelocityRule = endpoint({
  id: 'policy.putVelocityRule',
  method: 'put',
  path,
  summary: 'Replace a velocity rule',
  description: velocityCounting,
  owner: 'installation',
  access: policyWrite,
  entitledBy: ['velocity_rules'],
  audit: { type: 'safety.policy_change', action: 'velocity_rule.put', resource: ['velocity_rule', 'rule_id'] },
  params,
  body,
  violationCodes,
  answer: { status: 200, body: view },
  errors: [...writes, 'velocity_rule_not_found', 'velocity_rule_conflict'],
});

export const removeVelocityRule = endpoint({
  id: 'policy.removeVelocityRule',
  method: 'delete',
  path,
  summary: 'Delete a velocity rule',
  owner: 'installation',
  access: policyWrite,
  entitledBy: ['velocity_rules'],
  audit: { type: 'safety.policy_change', action: 'velocity_rule.remove', resource: ['velocity_rule', 'rule_id'] },
  params,
  answer: { status: 204 },
  errors: [entitled, 'velocity_rule_not_found', 'policy_version_conflict'],
});

export interface VelocityStat {
  id: string;
  hit_count_24h: number;
  hit_rate_24h: number;
  current_window_count: number;
  current_window_max: number;
  active_buckets: number;
  exceeded_buckets: number;
  last_triggered: string | null;
  hourly_hits: number[];
}
export interface VelocityStatsView {
  items: VelocityStat[];
  top_rules: VelocityStat[];
  generated_at: string;
  errors?: FragmentError[];
}

const stat = shape<VelocityStat>({
  required: {
    id: text('Rule id.'),
    hit_count_24h: count(
      'Decisions of the last 24 hours: among about the newest 1000 jobs, plus all throttled submissions.',
    ),
    hit_rate_24h: Joi.number().min(0).description('Decisions per hour over the last 24 hours.'),
    current_window_count: count('Requests in all current windows.'),
    current_window_max: count('Requests in the fullest window.'),
    active_buckets: count('Number of windows with requests.'),
    exceeded_buckets: count('Number of windows over the threshold.'),
    last_triggered: time('Time of its last decision; null = none.').allow(null),
    hourly_hits: Joi.array().items(count('Hits of an hour.')).description('The last 24 hours, oldest first.'),
  },
});

export const velocityStats = endpoint({
  id: 'policy.velocityStats',
  method: 'get',
  path: '/api/v1/policy/velocity-rules/stats',
  summary: 'Decisions and window usage of velocity rules',
  description: 'Covers the caller’s tenant, or all tenants for callers with access to all that name none.',
  access: policyRead,
  entitledBy: ['velocity_rules'],
  params: {},
  answer: {
    status: 200,
    body: shape<VelocityStatsView>({
      required: {
        items: Joi.array().items(stat),
        top_rules: Joi.array().items(stat).description('The ten rules with the most decisions.'),
        generated_at: time('Time of the response.'),
      },
      optional: { errors: fragmentErrors },
    }),
  },
  errors: [entitled],
});

export const velocityEndpoints = [
  listVelocityRules,
  velocityStats,
  addVelocityRule,
  putVelocityRule,
  removeVelocityRule,
] as const;
