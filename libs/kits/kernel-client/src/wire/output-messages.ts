import { limits } from '@svc/contract';
import type { ContentFinding } from '@svc/policy';
import type { OutputCheckRequest, OutputVerdict } from '../kernel';

/** See docs/reference/policy.md#output-policy. */
export interface OutputCheckRequestMessage {
  job_id: string;
  topic: string;
  tenant: string;
  labels: Record<string, string>;
  result_ptr: string;
  artifact_ptrs: readonly string[];
  error_message: string;
  error_code: string;
  worker_id: string;
  execution_ms: number;
  output_size_bytes: number;
  content_hash: string;
  workflow_id: string;
  step_id: string;
  /** Empty in the metadata phase. */
  output_content: Uint8Array;
  capabilities: readonly string[];
  risk_tags: readonly string[];
  principal_id: string;
  pack_id: string;
  content_type: string;
}

export interface OutputCheckResponseMessage {
  decision: string;
  reason: string;
  rule_id: string;
  policy_snapshot: string;
  findings: readonly FindingMessage[];
  content_is_clear: boolean;
  hold: boolean;
}

interface FindingMessage {
  type: string;
  severity: string;
  detail: string;
  offset: number;
  length: number;
  scanner: string;
  confidence: number;
  matched_pattern: string;
}

export const outputRequestMessage = (request: OutputCheckRequest): OutputCheckRequestMessage => ({
  job_id: request.job_id,
  topic: request.topic,
  tenant: request.tenant,
  labels: { ...request.labels },
  result_ptr: request.result_ptr,
  artifact_ptrs: request.artifact_ptrs,
  error_message: request.error_message,
  error_code: request.error_code,
  worker_id: request.worker_id,
  execution_ms: request.execution_ms,
  output_size_bytes: Math.max(request.output_size_bytes, request.output_content?.length ?? 0),
  content_hash: request.content_hash ?? '',
  workflow_id: request.workflow_id ?? '',
  step_id: request.step_id ?? '',
  output_content: request.output_content?.subarray(0, limits.scanBytes) ?? Buffer.alloc(0),
  capabilities: request.capabilities,
  risk_tags: request.risk_tags,
  principal_id: request.principal_id,
  pack_id: request.pack_id,
  content_type: request.content_type ?? '',
});

export function toOutputRequest({ output_content, ...message }: OutputCheckRequestMessage): OutputCheckRequest {
  return { ...message, ...(output_content.length > 0 && { output_content: Buffer.from(output_content) }) };
}

export const outputResponseMessage = (verdict: OutputVerdict): OutputCheckResponseMessage => ({
  decision: `OUTPUT_DECISION_${verdict.decision}`,
  reason: verdict.reason,
  rule_id: verdict.rule_id,
  policy_snapshot: verdict.policy_snapshot,
  findings: verdict.findings.map(findingMessage),
  content_is_clear: !verdict.content_phase_needed,
  hold: verdict.hold,
});

/** @returns undefined for an empty response: zero means ALLOW, so it must not release the result. */
export function toOutputVerdict(message: OutputCheckResponseMessage): OutputVerdict | undefined {
  const decision = message.decision.replace('OUTPUT_DECISION_', '');
  if (decision !== 'ALLOW' && decision !== 'QUARANTINE' && decision !== 'REDACT') return undefined;
  if (message.policy_snapshot === '' && decision === 'ALLOW') return undefined;
  return {
    decision,
    reason: message.reason,
    rule_id: message.rule_id,
    policy_snapshot: message.policy_snapshot,
    findings: message.findings.map(toFinding),
    content_phase_needed: decision === 'ALLOW' && !message.content_is_clear,
    hold: message.hold,
  };
}

const findingMessage = (finding: ContentFinding): FindingMessage => ({
  type: finding.type,
  severity: finding.severity,
  detail: finding.detail ?? '',
  offset: finding.offset ?? 0,
  length: finding.length ?? 0,
  scanner: finding.scanner ?? '',
  confidence: finding.confidence ?? 0,
  matched_pattern: finding.matched_pattern ?? '',
});

/** A finding without length has no offset in the body. Rounds the wire's float. */
const toFinding = (finding: FindingMessage): ContentFinding => ({
  type: finding.type,
  severity: finding.severity,
  detail: finding.detail,
  scanner: finding.scanner,
  matched_pattern: finding.matched_pattern,
  ...(finding.length > 0 && { offset: finding.offset, length: finding.length }),
  confidence: Math.round(finding.confidence * 1_000_000) / 1_000_000,
});
