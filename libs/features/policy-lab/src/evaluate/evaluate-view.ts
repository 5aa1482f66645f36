import type { PolicyDecisionView, PolicySimulationView, PolicyTraceView } from '@svc/contract';
import { decisionType } from '@svc/kernel-client';
import type { Constraints, PolicyDecision, Remediation, RuleTrace } from '@svc/policy';
import type { ActionBlock } from './action-checks';

/** A decision in the responses of these routes, with every field always present. See docs/reference/policy.md#evaluation. */
export const decisionView = (decision: PolicyDecision): PolicyDecisionView => ({
  decision: decisionType(decision.decision),
  reason: decision.reason,
  ruleId: decision.rule_id,
  policySnapshot: decision.policy_snapshot,
  approvalRef: decision.approval_ref ?? '',
  approvalRequired: decision.approval_required,
  constraints: decision.constraints ? constraintsView(decision.constraints) : null,
  remediations: decision.remediations.map(remediationView),
});

/** The same for callers without access to the rules: the deciding rule is left out. */
export const redacted = (view: PolicyDecisionView): PolicyDecisionView => ({
  ...view,
  ruleId: view.ruleId === '' ? '' : 'matched',
  reason: view.decision,
});

/** An action check that requires an approval, as a decision without a rule. See docs/reference/policy.md#action-checks. */
export const humanView = ({ finding }: ActionBlock, [snapshot = '']: readonly string[]): PolicySimulationView => ({
  decision: decisionType('REQUIRE_APPROVAL'),
  reason: finding.reason,
  ruleId: finding.gate,
  policySnapshot: snapshot,
  approvalRef: '',
  approvalRequired: true,
  constraints: null,
  remediations: [],
  rule_id: finding.gate,
  gate: finding.gate,
  sub_reason: finding.subReason,
});

/** 64-bit integers are strings, as in the JSON form of the kernel's messages. */
const int64 = (value = 0): string => String(value);

function constraintsView({ budgets, sandbox, toolchain, diff, ...more }: Constraints): Record<string, unknown> {
  return {
    budgets: {
      maxRuntimeMs: int64(budgets?.max_runtime_ms),
      maxRetries: budgets?.max_retries ?? 0,
      maxArtifactBytes: int64(budgets?.max_artifact_bytes),
      maxConcurrentJobs: budgets?.max_concurrent_jobs ?? 0,
    },
    sandbox: {
      isolated: sandbox?.isolated ?? false,
      networkAllowlist: sandbox?.network_allowlist ?? [],
      fsReadOnly: sandbox?.fs_read_only ?? [],
      fsReadWrite: sandbox?.fs_read_write ?? [],
    },
    toolchain: {
      allowedTools: toolchain?.allowed_tools ?? [],
      allowedCommands: toolchain?.allowed_commands ?? [],
    },
    diff: {
      maxFiles: diff?.max_files ?? 0,
      maxLines: diff?.max_lines ?? 0,
      denyPathGlobs: diff?.deny_path_globs ?? [],
    },
    redactionLevel: more.redaction_level ?? '',
    maxOutputBytes: int64(more.max_output_bytes),
    allowedDestinations: more.allowed_destinations ?? [],
    redactPatterns: more.redact_patterns ?? [],
  };
}

const remediationView = (entry: Remediation): Record<string, unknown> => ({
  id: entry.id,
  title: entry.title ?? '',
  summary: entry.summary ?? '',
  replacementTopic: entry.replacement_topic ?? '',
  replacementCapability: entry.replacement_capability ?? '',
  addLabels: entry.add_labels ?? {},
  removeLabels: entry.remove_labels ?? [],
});

export const traceView = ({ ruleId, source, set, verdict, outcome, failed }: RuleTrace): PolicyTraceView => ({
  ruleId,
  source,
  set,
  decision: decisionType(verdict),
  outcome,
  ...(failed !== undefined && { failed }),
});
