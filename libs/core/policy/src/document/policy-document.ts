import type { InputRuleDecision, OutputRuleDecision, RuleDecision, Severity, Tier } from './words';

/**
 * A policy document as returned by `parsePolicy`: wire spelling, defaults filled in.
 * See docs/reference/policy.md#documents.
 */
export interface PolicyDocument {
  /** Origin: a bundle id such as `secops/invariants`, or a file name. */
  source: string;
  version?: string;
  tier: Tier;
  selector?: Selector;
  default_decision?: 'allow' | 'deny';
  default_tenant?: string;
  rules: Rule[];
  input_policy?: InputPolicy;
  input_rules: InputRule[];
  output_policy?: OutputPolicy;
  output_rules: OutputRule[];
  require_human?: RequireHuman;
  tenants: Record<string, TenantPolicy>;
}

export interface Selector {
  workflow_id?: string;
  job_id?: string;
  session_id?: string;
}

export interface Rule {
  id: string;
  tier?: Tier;
  selector?: Selector;
  description?: string;
  match?: RuleMatch;
  velocity?: Velocity;
  decision: RuleDecision;
  reason?: string;
  /** Duration such as `30s`; present when `decision` is throttle. */
  throttle_duration?: string;
  constraints?: Constraints;
  remediations?: Remediation[];
}

export type Scalar = string | number | boolean;

export interface RuleMatch {
  tenants?: string[];
  topics?: string[];
  capabilities?: string[];
  risk_tags?: string[];
  requires?: string[];
  pack_ids?: string[];
  actor_ids?: string[];
  actor_types?: string[];
  agent_risk_tiers?: string[];
  agent_data_classifications?: string[];
  labels?: Record<string, Scalar>;
  label_allowlist?: Record<string, Scalar[]>;
  label_threshold?: Record<string, number>;
  secrets_present?: boolean;
  metadata?: Record<string, Scalar>;
  predicate?: string;
  delegation?: DelegationMatch;
  mcp?: McpLists;
}

export interface DelegationMatch {
  max_depth?: number;
  issuers?: string[];
  require_issuer?: string;
  required_scope?: string[];
  forbid_delegated?: boolean;
  delegation_required?: boolean;
}

export interface McpLists {
  allow_servers?: string[];
  deny_servers?: string[];
  allow_tools?: string[];
  deny_tools?: string[];
  allow_resources?: string[];
  deny_resources?: string[];
  allow_actions?: string[];
  deny_actions?: string[];
}

export interface TenantMcp extends McpLists {
  /** Short forms of `allow_tools` and `deny_tools`. */
  allow?: string[];
  deny?: string[];
  gateway_enabled?: boolean;
}

export interface TenantPolicy {
  allow_topics?: string[];
  deny_topics?: string[];
  allowed_repo_hosts?: string[];
  denied_repo_hosts?: string[];
  max_concurrent_jobs?: number;
  mcp?: TenantMcp;
}

export interface Velocity {
  max_requests: number;
  window_seconds: number;
  /** Parts joined by `:`, each of tenant, topic, actor_id, actor_type, capability, pack_id, labels.<key>. */
  key: string;
}

export interface Constraints {
  budgets?: {
    max_runtime_ms?: number;
    max_retries?: number;
    max_artifact_bytes?: number;
    max_concurrent_jobs?: number;
  };
  sandbox?: { isolated?: boolean; network_allowlist?: string[]; fs_read_only?: string[]; fs_read_write?: string[] };
  toolchain?: { allowed_tools?: string[]; allowed_commands?: string[] };
  diff?: { max_files?: number; max_lines?: number; deny_path_globs?: string[] };
  redaction_level?: string;
  max_output_bytes?: number;
  allowed_destinations?: string[];
  redact_patterns?: string[];
}

export interface Remediation {
  id: string;
  title?: string;
  summary?: string;
  replacement_topic?: string;
  replacement_capability?: string;
  add_labels?: Record<string, string>;
  remove_labels?: string[];
}

export interface InputPolicy {
  enabled?: boolean;
  fail_mode?: 'open' | 'closed';
  max_scan_bytes?: number;
}

export interface ContentMatch {
  scanners?: string[];
  detectors?: string[];
  content_patterns?: string[];
  keywords?: string[];
}

export interface InputRule {
  id: string;
  tier?: Tier;
  selector?: Selector;
  description?: string;
  reason?: string;
  severity?: Severity;
  enabled: boolean;
  match?: InputMatch;
  /** The same as `match.scope`, which wins when both are written. */
  scope?: ScopeMatch;
  decision: InputRuleDecision;
}

export interface InputMatch extends RuleMatch, ContentMatch {
  /** Another name of `content_patterns`; both lists apply. */
  patterns?: string[];
  content_types?: string[];
  input_size_gt?: number;
  max_input_bytes?: number;
  scope?: ScopeMatch;
}

export interface ScopeMatch {
  instruction_path: string;
  items_path: string;
  category_path: string;
  name_path?: string;
  allowed_categories?: string[];
  /** Maps synonyms of a category to the category. */
  aliases?: Record<string, string>;
  on_missing_input: 'deny' | 'allow';
  on_ambiguous: 'deny' | 'require_approval' | 'allow';
}

export interface OutputPolicy {
  enabled: boolean;
  fail_mode: 'open' | 'closed';
  topic_overrides?: TopicOverride[];
}

export interface TopicOverride {
  topic_pattern: string;
  enabled?: boolean;
  fail_mode?: 'open' | 'closed';
  scanners?: string[];
}

export interface OutputRule {
  id: string;
  enabled: boolean;
  severity?: Severity;
  /** The result is released only after its content was checked; requires severity critical. */
  hold?: boolean;
  description?: string;
  reason?: string;
  match?: OutputMatch;
  decision: OutputRuleDecision;
}

export interface OutputMatch {
  tenants?: string[];
  topics?: string[];
  capabilities?: string[];
  risk_tags?: string[];
  scanners?: string[];
  detectors?: string[];
  content_patterns?: string[];
  output_size_gt?: number;
  max_output_bytes?: number;
  has_error?: boolean;
}

export interface RequireHuman {
  min_severity_for_deny?: Severity;
  /** A number from 0 to 1. */
  min_confidence_for_deny?: number;
  downgrade_when_prompt_only?: boolean;
}
