import Joi from 'joi';
import { durationMs } from '../compile/duration';
import { globFault } from '../compile/glob';
import { compilePredicate, predicateForms } from '../compile/predicate';
import { compileVelocityKey, velocityKeyForm } from '../compile/velocity-key';
import type {
  Constraints,
  DelegationMatch,
  McpLists,
  Remediation,
  Rule,
  RuleMatch,
  Selector,
  Velocity,
} from './policy-document';
import {
  checked,
  count,
  flag,
  globs,
  listOf,
  mapOf,
  name,
  names,
  positive,
  regexes,
  scalar,
  section,
  text,
  word,
} from './schema-parts';
import { ruleDecisions, tiers } from './words';

export const tier = word(tiers);
export const selector = section<Selector>({
  required: {},
  optional: { workflow_id: name, job_id: name, session_id: name },
});
export const ruleId = Joi.string().max(128);

const mcpPatterns = listOf(checked(globFault));
export const mcpLists = {
  allow_servers: mcpPatterns,
  deny_servers: mcpPatterns,
  allow_tools: mcpPatterns,
  deny_tools: mcpPatterns,
  allow_resources: mcpPatterns,
  deny_resources: mcpPatterns,
  allow_actions: mcpPatterns,
  deny_actions: mcpPatterns,
};

const metadata = Joi.object<Record<string, string | number | boolean>>()
  .pattern(/_(gt|gte|lt|lte)$/, Joi.number())
  .pattern(Joi.string(), scalar);

const delegation = section<DelegationMatch>({
  required: {},
  optional: {
    max_depth: count,
    issuers: names,
    require_issuer: name,
    required_scope: names,
    forbid_delegated: flag,
    delegation_required: flag,
  },
});

const predicate = checked((source) =>
  compilePredicate(source) ? undefined : `is not a predicate: write one of ${predicateForms}`,
);

/** Keys of `match` that ordinary and input rules share. See docs/reference/policy.md#rules. */
export const ruleMatchFields = {
  tenants: names,
  topics: globs,
  capabilities: globs,
  risk_tags: names,
  requires: names,
  pack_ids: names,
  actor_ids: names,
  actor_types: listOf(word(['human', 'service'])),
  agent_risk_tiers: names,
  agent_data_classifications: names,
  labels: mapOf(scalar),
  label_allowlist: mapOf(listOf(scalar)),
  label_threshold: mapOf(Joi.number()),
  secrets_present: flag,
  metadata,
  predicate,
  delegation,
  mcp: section<McpLists>({ required: {}, optional: mcpLists }),
};

const velocity = section<Velocity>({
  required: {
    max_requests: positive,
    window_seconds: positive.max(86_400),
    key: checked((key) => (compileVelocityKey(key) ? undefined : `is not a velocity key: write ${velocityKeyForm}`)),
  },
});

type Part<Key extends keyof Constraints> = NonNullable<Constraints[Key]>;

const constraints = section<Constraints>({
  required: {},
  optional: {
    budgets: section<Part<'budgets'>>({
      required: {},
      optional: { max_runtime_ms: count, max_retries: count, max_artifact_bytes: count, max_concurrent_jobs: count },
    }),
    sandbox: section<Part<'sandbox'>>({
      required: {},
      optional: { isolated: flag, network_allowlist: names, fs_read_only: names, fs_read_write: names },
    }),
    toolchain: section<Part<'toolchain'>>({
      required: {},
      optional: { allowed_tools: names, allowed_commands: names },
    }),
    diff: section<Part<'diff'>>({
      required: {},
      optional: { max_files: count, max_lines: count, deny_path_globs: globs },
    }),
    redaction_level: name,
    max_output_bytes: count.max(16 * 1024 * 1024),
    allowed_destinations: names,
    redact_patterns: regexes,
  },
});

const remediation = section<Remediation>({
  required: { id: ruleId },
  optional: {
    title: text,
    summary: text,
    replacement_topic: name,
    replacement_capability: name,
    add_labels: mapOf(Joi.string().allow('')),
    remove_labels: names,
  },
});

const duration = checked((written) =>
  durationMs(written) === undefined ? 'is not a duration above zero: write one such as 30s, 5m or 1m30s' : undefined,
);

export const rule = section<Rule>({
  required: { id: ruleId, decision: word(ruleDecisions, 'deny') },
  optional: {
    tier,
    selector,
    description: text,
    match: section<RuleMatch>({ required: {}, optional: ruleMatchFields }),
    velocity,
    reason: text,
    throttle_duration: duration,
    constraints,
    remediations: listOf(remediation),
  },
});
