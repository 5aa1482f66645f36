import type { DelegationFacts } from '../compile/predicate';
import type { Constraints, Remediation } from '../document/policy-document';
import type { Verdict } from '../document/words';
import type { ContentFinding } from './content';

/** The request to decide, in wire spelling, with the facts that only the server knows. */
export interface PolicyRequest {
  topic: string;
  tenant?: string;
  job_id?: string;
  org_id?: string;
  team_id?: string;
  workflow_id?: string;
  step_id?: string;
  principal_id?: string;
  memory_id?: string;
  priority?: string | number;
  estimated_cost?: number;
  budget?: unknown;
  /** Labels of the caller, reserved prefixes already stripped. */
  labels?: Readonly<Record<string, string>>;
  /** Labels set by the server. They win over `labels`, and only they can select narrow tiers (3.3). */
  server_labels?: Readonly<Record<string, string>>;
  /** The merged configuration as parsed JSON; its `safety` section can only deny (3.2 step 9). */
  effective_config?: unknown;
  meta?: RequestMeta;
  /** An action descriptor. Action checks are not evaluated here; its presence means the request is not just a prompt (3.6). */
  action?: unknown;
  input_content?: Uint8Array | string;
  input_content_type?: string;
  /** Size of the whole content, when `input_content` holds only part of it. */
  input_size_bytes?: number;
  /** Registered facts about the agent in label `agent_id`. */
  agent?: { risk_tier?: string; data_classifications?: readonly string[] };
  /** The verified delegation chain, if any. */
  delegation?: DelegationFacts;
  /** The deriver registered for the topic (3.2 step 4). */
  risk_tag_deriver?: RiskTagDeriver;
  /** The last decision on this request, when it permitted the request. Set by the server only. */
  prior_permit?: PriorPermit;
}

/**
 * Velocity limits apply to a request once per policy: while the policy is unchanged, a velocity rule that did not deny the
 * request before does not deny it now, however full its window is.
 */
export interface PriorPermit {
  policy_snapshot: string;
  /** Empty when no rule decided. */
  rule_id: string;
}

export interface RequestMeta {
  tenant_id?: string;
  actor_id?: string;
  actor_type?: string;
  idempotency_key?: string;
  capability?: string;
  risk_tags?: readonly string[];
  requires?: readonly string[];
  pack_id?: string;
  labels?: Readonly<Record<string, string>>;
}

/** Turns the content's numeric `amount` into a risk tag: that of the highest tier that the amount reaches. */
export interface RiskTagDeriver {
  kind: 'amount-threshold';
  tiers: readonly { from: number; tag: string }[];
  /** Tags of the topic's registration, which its jobs have in addition to the derived one. */
  tags?: readonly string[];
}

/** The record of one decision, in wire spelling. */
export interface PolicyDecision {
  decision: Verdict;
  reason: string;
  /** Empty when no rule decided. */
  rule_id: string;
  /**
   * `[<version>:]<hash>`, and `|cfg:<hash>` when the effective configuration took part.
   * See docs/reference/policy.md#snapshots.
   */
  policy_snapshot: string;
  constraints?: Constraints;
  remediations: Remediation[];
  approval_required: boolean;
  /** The job's id, when an approval is required and there is a job. */
  approval_ref?: string;
  throttle_duration_ms?: number;
  /** Findings of content rules; absent when content was not scanned or was clean. */
  findings?: ContentFinding[];
}

/** Yielded when a velocity rule's match holds: count this request in its window, or only read the window. */
export interface VelocityCheck {
  ruleId: string;
  key: string;
  windowSeconds: number;
  maxRequests: number;
  /** The job's id, so that a job evaluated twice counts once; undefined: use a random one. */
  member: string | undefined;
}

/** `count` is the position of the request in the window: the requests before it, and itself. */
export type VelocityAnswer = { kind: 'count'; count: number } | { kind: 'unavailable' };
