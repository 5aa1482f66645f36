import Joi from 'joi';
import { globFault } from '../compile/glob';
import { isJsonPath } from '../compile/json-path';
import type {
  InputMatch,
  InputPolicy,
  InputRule,
  OutputMatch,
  OutputPolicy,
  OutputRule,
  PolicyDocument,
  RequireHuman,
  ScopeMatch,
  TenantMcp,
  TenantPolicy,
  TopicOverride,
} from './policy-document';
import {
  checked,
  count,
  failMode,
  flag,
  globs,
  listOf,
  mapOf,
  name,
  names,
  positive,
  regexes,
  section,
  text,
  word,
} from './schema-parts';
import { mcpLists, rule, ruleId, ruleMatchFields, selector, tier } from './schema-rules';
import { detectorNames, inputRuleDecisions, levels, outputRuleDecisions, scannerNames } from './words';

const jsonPath = checked((path) =>
  isJsonPath(path) ? undefined : 'is not a path into the content: write one such as $.cart.items',
);

/** `code_injection` names the same scanner as `injection`. */
const scanner = Joi.any().custom((written: unknown, helpers) => {
  const folded = typeof written === 'string' ? written.trim().toLowerCase().replaceAll('-', '_') : '';
  const found = scannerNames.find((each) => each === (folded === 'code_injection' ? 'injection' : folded));
  const detail = `${JSON.stringify(written)} is not one of the scanners ${scannerNames.join(', ')}`;
  return found ?? helpers.error('fault', { detail });
});
const scanners = listOf(scanner);
const detectors = listOf(word(detectorNames));
const severity = word(levels);

const scope = section<ScopeMatch>({
  required: {
    instruction_path: jsonPath,
    items_path: jsonPath,
    category_path: jsonPath,
    on_missing_input: word(['deny', 'allow']).default('deny'),
    on_ambiguous: word(['deny', 'require_approval', 'allow']).default('deny'),
  },
  optional: { name_path: jsonPath, allowed_categories: names, aliases: mapOf(name) },
});

const inputRule = section<InputRule>({
  required: { id: ruleId, enabled: flag.default(true), decision: word(inputRuleDecisions, 'deny') },
  optional: {
    tier,
    selector,
    description: text,
    reason: text,
    severity,
    scope,
    match: section<InputMatch>({
      required: {},
      optional: {
        ...ruleMatchFields,
        scanners,
        detectors,
        content_patterns: regexes,
        patterns: regexes,
        keywords: names,
        content_types: globs,
        input_size_gt: count,
        max_input_bytes: count,
        scope,
      },
    }),
  },
});

const outputRule = section<OutputRule>({
  required: { id: ruleId, enabled: flag.default(true), decision: word(outputRuleDecisions, 'deny') },
  optional: {
    severity,
    hold: flag,
    description: text,
    reason: text,
    match: section<OutputMatch>({
      required: {},
      optional: {
        tenants: names,
        topics: globs,
        capabilities: globs,
        risk_tags: names,
        scanners,
        detectors,
        content_patterns: regexes,
        output_size_gt: count,
        max_output_bytes: count,
        has_error: flag,
      },
    }),
  },
});

const topicOverride = section<TopicOverride>({
  required: { topic_pattern: checked(globFault) },
  optional: { enabled: flag, fail_mode: failMode, scanners },
});

const tenant = section<TenantPolicy>({
  required: {},
  optional: {
    allow_topics: globs,
    deny_topics: globs,
    allowed_repo_hosts: names,
    denied_repo_hosts: names,
    max_concurrent_jobs: count,
    mcp: section<TenantMcp>({
      required: {},
      optional: { ...mcpLists, allow: globs, deny: globs, gateway_enabled: flag },
    }),
  },
});

const levelAsNumber: Readonly<Record<string, number>> = { high: 0.95, medium: 0.7, low: 0.4 };

/** A number from 0 to 1, or the level scanners name: high, medium, low. See docs/scanning.md. */
const confidence: Joi.Schema<number> = Joi.any().custom((written: unknown, helpers) => {
  const value = typeof written === 'string' ? levelAsNumber[written.trim().toLowerCase()] : written;
  const usable = typeof value === 'number' && value >= 0 && value <= 1;
  return usable ? value : helpers.error('fault', { detail: 'must be a number from 0 to 1, or high, medium, low' });
});

/** `version: 1` without quotes is a number in YAML; it is accepted as text. */
const version: Joi.Schema<string> = Joi.any().custom((written: unknown, helpers) => {
  if (typeof written === 'number' || (typeof written === 'string' && written.trim() !== ''))
    return String(written).trim();
  return helpers.error('fault', { detail: 'must be text, such as "1"' });
});

/** Keys that describe the policy document itself. */
const headKeys = ['version', 'tier', 'selector'];

/** A whole policy document, without the `source` that its loader adds. See docs/reference/policy.md#documents. */
export const documentSchema = section<Omit<PolicyDocument, 'source'>>({
  required: {
    tier: tier.default('global'),
    rules: listOf(rule).default([]),
    input_rules: listOf(inputRule).default([]),
    output_rules: listOf(outputRule).default([]),
    tenants: mapOf(tenant).default({}),
  },
  optional: {
    version,
    selector,
    default_decision: word(['allow', 'deny'], 'deny').empty(Joi.valid(null, '')),
    default_tenant: name.empty(Joi.valid(null, '')),
    input_policy: section<InputPolicy>({
      required: {},
      optional: { enabled: flag, fail_mode: failMode, max_scan_bytes: positive },
    }),
    output_policy: section<OutputPolicy>({
      required: { enabled: flag.default(false), fail_mode: failMode.default('closed') },
      optional: { topic_overrides: listOf(topicOverride) },
    }),
    require_human: section<RequireHuman>({
      required: {},
      optional: {
        min_severity_for_deny: severity,
        min_confidence_for_deny: confidence,
        downgrade_when_prompt_only: flag,
      },
    }),
  },
});

/** Sections of a policy document. They are read from policy documents only. */
export const policySections: readonly string[] = Object.keys(
  (documentSchema.describe() as { keys: object }).keys,
).filter((key) => !headKeys.includes(key));
