import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, count, flag, pageLimit, strings, text } from '../fields';
import { shape } from '../shape';
import { policyRead, policyWrite, sha256, time } from './fields';

/** Source of a rule. See docs/reference/policy.md#output-rules-and-rules-lists. */
export interface RuleSourceView {
  fragment_id: string;
  tier: string;
  pack_id?: string;
  overlay_name?: string;
  version?: string;
  installed_at?: string;
  sha256?: string;
}
export interface RuleView extends Record<string, unknown> {
  id: string;
  decision: string;
  tier: string;
  selector: Record<string, unknown>;
  enabled: boolean;
  source: RuleSourceView;
}
export interface FragmentError {
  fragment_id: string;
  error: string;
}
export interface RulesView {
  items: RuleView[];
  errors?: FragmentError[];
}

const source = shape<RuleSourceView>({
  required: {
    fragment_id: text('Bundle id; `base` for the policy file.'),
    tier: text('Tier of the document.'),
  },
  optional: {
    pack_id: text('Pack of the bundle.'),
    overlay_name: text('Name of the bundle in the pack.'),
    version: text('Version of the content.'),
    installed_at: time('Installation time of the pack.'),
    sha256: sha256('Hash of the document.'),
  },
});
export const fragmentErrors = Joi.array()
  .items(
    shape<FragmentError>({
      required: { fragment_id: text('Bundle id.'), error: text('Why its rules are missing.') },
    }),
  )
  .description('Invalid documents; absent when there are none.');

const listQuery = shape<{ include_disabled: boolean }>({
  required: { include_disabled: flag(false).description('Include rules that are not in effect.') },
});

export const listRules = endpoint({
  id: 'policy.listRules',
  method: 'get',
  path: '/api/v1/policy/rules',
  summary: 'Rules of the policy, in the order of their documents',
  access: policyRead,
  params: {},
  query: listQuery,
  answer: {
    status: 200,
    body: shape<RulesView>({
      required: {
        items: Joi.array().items(
          shape<RuleView>({
            required: {
              id: text('Rule id.'),
              decision: text('Decision of the rule.'),
              tier: text('global, workflow or job.'),
              selector: anyObject('Workflow or job to which a narrow rule applies.'),
              enabled: Joi.boolean().description('Whether its document is in effect.'),
              source,
            },
          })
            .unknown()
            .description('Rules, with all other fields as in their documents.'),
        ),
      },
      optional: { errors: fragmentErrors },
    }),
  },
  errors: [],
});

export interface OutputRuleView {
  id: string;
  description: string;
  topics: string[];
  scanners: string[];
  patterns: string[];
  pattern_preview: string;
  decision: string;
  severity: string;
  reason: string;
  enabled: boolean;
  match: Record<string, unknown>;
  source: RuleSourceView;
  last_triggered?: string;
  trigger_count_24h?: number;
}
export interface OutputRulesView {
  items: OutputRuleView[];
  errors?: FragmentError[];
}

export const listOutputRules = endpoint({
  id: 'policy.listOutputRules',
  method: 'get',
  path: '/api/v1/policy/output/rules',
  summary: 'Output rules, in the order of their documents',
  access: policyRead,
  params: {},
  query: listQuery,
  answer: {
    status: 200,
    body: shape<OutputRulesView>({
      required: {
        items: Joi.array().items(
          shape<OutputRuleView>({
            required: {
              id: text('Rule id.'),
              description: text('Description.'),
              topics: strings('Topics to which it applies; empty = all.'),
              scanners: strings('Scanners and detectors that trigger it.'),
              patterns: strings('Patterns that trigger it.'),
              pattern_preview: text('The first 100 characters of the patterns.'),
              decision: text('Decision of the rule.'),
              severity: text('Severity; empty when not set.'),
              reason: text('Reason of the rule.'),
              enabled: Joi.boolean().description('Whether it is in effect.'),
              match: anyObject('Match conditions, as in the document.'),
              source,
            },
            optional: {
              last_triggered: time('Time of its last decision about a result of the caller’s tenant.'),
              trigger_count_24h: count(
                'Number of its decisions in the last 24 hours, among the newest 500 checked results.',
              ),
            },
          }),
        ),
      },
      optional: { errors: fragmentErrors },
    }),
  },
  errors: [],
});

export interface OutputRuleWritten {
  id: string;
  enabled: boolean;
  bundle_id: string;
  updated_at: string;
}

export const putOutputRule = endpoint({
  id: 'policy.putOutputRule',
  method: 'put',
  path: '/api/v1/policy/output/rules/:rule_id',
  owner: 'installation',
  summary: 'Enable or disable an output rule',
  description:
    'Rewrites and signs the bundle that contains the rule. If several bundles have a rule of that id, the one in effect is changed.',
  access: policyWrite,
  audit: { type: 'safety.policy_change', action: 'output_rule.put', resource: ['output_rule', 'rule_id'] },
  params: { rule_id: Joi.string().min(1).max(128).description('Rule id.') },
  body: shape<{ enabled: boolean }>({
    required: { enabled: Joi.boolean().description('Whether the rule takes effect.') },
  }),
  answer: {
    status: 200,
    body: shape<OutputRuleWritten>({
      required: {
        id: text('Rule id.'),
        enabled: Joi.boolean(),
        bundle_id: text('Bundle that contains it.'),
        updated_at: time('Time of the write.'),
      },
    }),
  },
  errors: [
    'output_rule_not_found',
    'output_rule_not_editable',
    'policy_validation_failed',
    'policy_version_conflict',
    'policy_signing_required',
  ],
});

export interface OutputStatsView {
  total_checks_24h: number;
  quarantined_24h: number;
  avg_latency_ms: number;
  last_check_at: string | null;
}

export const outputStats = endpoint({
  id: 'policy.outputStats',
  method: 'get',
  path: '/api/v1/policy/output/stats',
  summary: 'Output checks of the last 24 hours',
  access: policyRead,
  params: {},
  query: shape<{ limit: number }>({ required: { limit: pageLimit(500, 500) } }),
  answer: {
    status: 200,
    body: shape<OutputStatsView>({
      required: {
        total_checks_24h: count('Checked results of the caller’s tenant, among its newest jobs up to the limit.'),
        quarantined_24h: count('Checked results that were withheld.'),
        avg_latency_ms: Joi.number().min(0),
        last_check_at: time('Time of the last check; null = none.').allow(null),
      },
    }),
  },
  errors: [],
});

export const ruleEndpoints = [listRules, listOutputRules, putOutputRule, outputStats] as const;
