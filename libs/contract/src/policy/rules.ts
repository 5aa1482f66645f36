import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, count, flag, pageLimit, strings, text } from '../fields';
import { shape } from '../shape';
import { policyRead, policyWrite, sha256, time } from './fields';

/** Where a rule comes from. See docs/reference/policy.md#output-rules-and-rules-lists. */
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
    pack_id: text('Pack it belongs to.'),
    overlay_name: text('What the pack calls it.'),
    version: text('Version of what it holds.'),
    installed_at: time('When its pack was installed.'),
    sha256: sha256('Of the document.'),
  },
});
export const fragmentErrors = Joi.array()
  .items(
    shape<FragmentError>({
      required: { fragment_id: text('Bundle id.'), error: text('Why its rules are not here.') },
    }),
  )
  .description('Documents that cannot be read; absent when there is none.');

const listQuery = shape<{ include_disabled: boolean }>({
  required: { include_disabled: flag(false).description('Also rules that are not in force.') },
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
              decision: text('What it decides.'),
              tier: text('global, workflow or job.'),
              selector: anyObject('What a narrow rule is for.'),
              enabled: Joi.boolean().description('Whether its document is in force.'),
              source,
            },
          })
            .unknown()
            .description('With every other field of the rule as it is written.'),
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
  summary: 'Rules for results, in the order of their documents',
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
              description: text('What it is for.'),
              topics: strings('Topics it looks at; any when empty.'),
              scanners: strings('Scanners and detectors it listens to.'),
              patterns: strings('Patterns it looks for.'),
              pattern_preview: text('The first 100 characters of these.'),
              decision: text('What it decides.'),
              severity: text('How bad it is; empty when nothing is said.'),
              reason: text('Why.'),
              enabled: Joi.boolean().description('Whether it is in force.'),
              match: anyObject('When it matches, as it is written.'),
              source,
            },
            optional: {
              last_triggered: time('When it last decided about a result of the caller’s tenant.'),
              trigger_count_24h: count(
                'How often it decided about one in the last 24 hours, of the newest 500 checked.',
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
  summary: 'Turn a rule for results on or off',
  description:
    'The bundle that holds it is written and signed anew. Where several hold a rule of that id, the one that counts.',
  access: policyWrite,
  params: { rule_id: Joi.string().min(1).max(128).description('Rule id.') },
  body: shape<{ enabled: boolean }>({ required: { enabled: Joi.boolean().description('Whether it is to count.') } }),
  answer: {
    status: 200,
    body: shape<OutputRuleWritten>({
      required: {
        id: text('Rule id.'),
        enabled: Joi.boolean(),
        bundle_id: text('Bundle that holds it.'),
        updated_at: time('When it was written.'),
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
  summary: 'Checks of results in the last 24 hours',
  access: policyRead,
  params: {},
  query: shape<{ limit: number }>({ required: { limit: pageLimit(500, 500) } }),
  answer: {
    status: 200,
    body: shape<OutputStatsView>({
      required: {
        total_checks_24h: count('Checked results of the caller’s tenant, of the newest jobs up to the limit.'),
        quarantined_24h: count('Of these, withheld ones.'),
        avg_latency_ms: Joi.number().min(0),
        last_check_at: time('When the last one was checked; null when none was.').allow(null),
      },
    }),
  },
  errors: [],
});

export const ruleEndpoints = [listRules, listOutputRules, putOutputRule, outputStats] as const;
