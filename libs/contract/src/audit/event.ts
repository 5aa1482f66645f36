import type { AuditEventType } from './event-types';

export const auditSeverities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'INFO'] as const;
export type AuditSeverity = (typeof auditSeverities)[number];

/** An act, as its writer knows it. Empty fields are left out of the chain. See docs/reference/audit.md#events. */
export interface AuditAct {
  event_type: AuditEventType;
  /** What was done, such as `job.cancel`. */
  action: string;
  severity: AuditSeverity;
  /** Who did it: a principal, or the identity of the credential; absent = the service. */
  identity?: string;
  agent_id?: string;
  agent_name?: string;
  agent_risk_tier?: string;
  job_id?: string;
  decision?: string;
  matched_rule?: string;
  reason?: string;
  risk_tags?: readonly string[];
  capabilities?: readonly string[];
  policy_version?: string;
  /** Further facts, such as `request_id`, `run_id`, `resource_id` or `after_hash`. */
  extra?: Readonly<Record<string, string>>;
}

/** An act of a tenant at a time. */
export interface AuditFact extends AuditAct {
  tenant_id: string;
  /** RFC 3339 with microseconds. */
  timestamp: string;
}

/** An event of the chain of a tenant. */
export interface AuditEvent extends AuditFact {
  /** From 1, without gaps. */
  seq: number;
  /** `event_hash` of the event before; absent for the first. */
  prev_hash?: string;
  /** SHA-256 (hex) of the canonical JSON (RFC 8785) of the event without `event_hash` and `hmac`. */
  event_hash: string;
  /** HMAC-SHA256 (hex) of the same bytes with SVC_AUDIT_HMAC_KEY. */
  hmac?: string;
}
