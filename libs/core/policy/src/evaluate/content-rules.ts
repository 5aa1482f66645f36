import type { CompiledInputRule } from '../compile/compile-input-rule';
import { firstFailing } from '../compile/conditions';
import type { Facts } from '../compile/facts';
import type { Policy } from '../compile/merge-policies';
import { isStricter, severityRank, type Verdict } from '../document/words';
import { needsKey, needsNothing, type ContentFinding, type ContentNeeds, type ScanContent } from './content';
import type { Outcome } from './outcome';
import { checkScope } from './scope-rule';
import type { RuleTrace } from './trace';

export interface ContentOptions {
  /** Scans the content; without it a rule that needs scanning uses the fail mode. */
  scanContent?: ScanContent | undefined;
  trace?: RuleTrace[] | undefined;
}

/**
 * Runs the content rules after a permitting decision: the first match makes it stricter, and so does the first match of
 * workflow overrides. See docs/reference/policy.md#content-rules.
 *
 * @returns the stricter outcome, or `permitted` itself
 */
export function afterContentRules(policy: Policy, facts: Facts, permitted: Outcome, options: ContentOptions): Outcome {
  const { inputPolicy, inputRules, overrides } = policy.compiled;
  const rules = inputRules.inOrder(facts);
  const ofOverrides = overrides.inputRules.inOrder(facts);
  if (!inputPolicy.enabled || rules.length + ofOverrides.length === 0) return permitted;
  const scan = new Scan(facts, inputPolicy.max_scan_bytes, options.scanContent);
  const closed = inputPolicy.fail_mode === 'closed';

  const findFirst = (list: readonly CompiledInputRule[]): Outcome | undefined => {
    for (const rule of list) {
      const failed = firstFailing(rule.conditions, facts);
      const result = failed === undefined ? tryRule(rule, facts, scan) : undefined;
      if (!result) {
        note(options.trace, rule, 'not_matched', failed ?? 'content');
        continue;
      }
      note(options.trace, rule, 'matched');
      const { verdict, reason } = afterDowngrade(policy, facts, rule, result);
      return { ...permitted, verdict, reason, ruleId: rule.id, findings: result.findings, remediations: [] };
    }
    return undefined;
  };
  const wider = findFirst(rules);
  const tightening = findFirst(ofOverrides);
  if (wider && tightening) return isStricter(wider.verdict, tightening.verdict) ? wider : tightening;
  const found = wider ?? tightening;
  if (found) return found;
  if (scan.fault !== undefined && closed) {
    return { ...permitted, verdict: 'REQUIRE_APPROVAL', reason: scan.fault, ruleId: '', findings: scan.faultFindings };
  }
  return scan.fault === undefined ? permitted : { ...permitted, findings: scan.faultFindings };
}

interface Match {
  verdict: Verdict;
  findings: ContentFinding[];
}

/** A rule without content needs matches by its other conditions alone. */
function tryRule(rule: CompiledInputRule, facts: Facts, scan: Scan): Match | undefined {
  const looks = rule.sizeLimit !== undefined || !needsNothing(rule.needs) || rule.scope !== undefined;
  if (!looks) return { verdict: rule.verdict, findings: [] };
  const findings: ContentFinding[] = [];
  if (rule.sizeLimit !== undefined && scan.sizeBytes > rule.sizeLimit) {
    const detail = `${scan.sizeBytes} bytes, more than ${rule.sizeLimit}`;
    findings.push({ type: 'input_size_exceeded', severity: rule.severity ?? 'medium', confidence: 1, detail });
  }
  if (!needsNothing(rule.needs)) findings.push(...scan.find(rule.needs));
  if (findings.length > 0) return { verdict: rule.verdict, findings };
  return rule.scope && tryScope(rule, rule.scope, facts);
}

function tryScope(
  rule: CompiledInputRule,
  scope: NonNullable<CompiledInputRule['scope']>,
  facts: Facts,
): Match | undefined {
  const result = checkScope(scope, facts.document());
  if (result.kind === 'within') return undefined;
  const severity = rule.severity ?? 'high';
  const found = (type: string) => [{ type, severity, confidence: 1, detail: result.detail }];
  switch (result.kind) {
    case 'violation':
      return { verdict: rule.verdict, findings: found('scope_violation') };
    case 'missing':
      return scope.on_missing_input === 'allow'
        ? undefined
        : { verdict: 'DENY', findings: found('content_required_but_missing') };
    case 'ambiguous': {
      if (scope.on_ambiguous === 'allow') return undefined;
      const verdict = scope.on_ambiguous === 'deny' ? 'DENY' : 'REQUIRE_APPROVAL';
      return { verdict, findings: found('scope_violation') };
    }
  }
}

/** A denial on weak evidence, or on a prompt alone, becomes an approval. */
function afterDowngrade({ compiled }: Policy, facts: Facts, rule: CompiledInputRule, { verdict, findings }: Match) {
  const { min_severity_for_deny, min_confidence_for_deny, downgrade_when_prompt_only } = compiled.requireHuman;
  if (verdict !== 'DENY') return { verdict, reason: rule.reason };
  const isStrong = ({ severity, confidence = 1 }: ContentFinding) =>
    severityRank(severity) >= severityRank(min_severity_for_deny ?? 'low') &&
    confidence >= (min_confidence_for_deny ?? 0);
  const weak = findings.length > 0 && !findings.some(isStrong);
  const promptOnly = downgrade_when_prompt_only === true && facts.request.action === undefined;
  if (!weak && !promptOnly) return { verdict, reason: rule.reason };
  const why = weak ? 'the finding is below the thresholds for a denial' : 'there is only a prompt';
  return { verdict: 'REQUIRE_APPROVAL' as const, reason: `${rule.reason} (for a person to decide: ${why})` };
}

/** The content of one request, scanned at most once per set of needs, and not again after a fault. */
class Scan {
  readonly sizeBytes: number;
  /** Why the scan is incomplete, undefined while it is complete. */
  fault: string | undefined;
  faultFindings: ContentFinding[] = [];
  private stopped = false;
  private readonly content: Uint8Array | undefined;
  private readonly found = new Map<string, ContentFinding[]>();

  constructor(
    facts: Facts,
    private readonly maxBytes: number,
    private readonly scan: ScanContent | undefined,
  ) {
    this.content = facts.content();
    this.sizeBytes = Math.max(this.content?.length ?? 0, facts.request.input_size_bytes ?? 0);
  }

  find(needs: ContentNeeds): ContentFinding[] {
    if (!this.content) return [];
    if (this.sizeBytes > this.maxBytes || this.sizeBytes > this.content.length) {
      this.fault ??= `the content is longer than the ${Math.min(this.maxBytes, this.content.length)} bytes that are scanned`;
      this.faultFindings = [
        { type: 'content_truncated', severity: 'low', confidence: 1, detail: `${this.sizeBytes} bytes` },
      ];
    }
    return this.found.get(needsKey(needs)) ?? this.scanNow(needs, this.content.subarray(0, this.maxBytes));
  }

  private scanNow(needs: ContentNeeds, content: Uint8Array): ContentFinding[] {
    const found = this.stopped ? 'overrun' : (this.scan?.(content, needs) ?? 'overrun');
    if (found === 'overrun') {
      this.stopped = true;
      this.fault = this.scan ? 'the content scan did not end in its time' : 'content cannot be scanned here';
      return [];
    }
    this.found.set(needsKey(needs), found);
    return found;
  }
}

function note(
  trace: RuleTrace[] | undefined,
  rule: CompiledInputRule,
  outcome: 'matched' | 'not_matched',
  failed?: string,
): void {
  const { id: ruleId, source, verdict } = rule;
  trace?.push({ set: 'content', ruleId, source, verdict, outcome, ...(failed !== undefined && { failed }) });
}
