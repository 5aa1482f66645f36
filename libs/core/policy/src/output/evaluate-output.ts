import type { CompiledOutputRule, OutputOverride } from '../compile/compile-output-rule';
import { firstFailing } from '../compile/conditions';
import { buildFacts, type Facts } from '../compile/facts';
import { fold } from '../compile/glob';
import type { Policy } from '../compile/merge-policies';
import { needsNothing, type ContentFinding, type ContentNeeds } from '../evaluate/content';
import type { FindOutput, OutputDecision, OutputRequest, OutputScan } from './output-request';

type DraftDecision = Omit<OutputDecision, 'policy_snapshot' | 'contentPhaseNeeded' | 'hold'>;
type Result = DraftDecision & { waiting?: readonly CompiledOutputRule[] };

/**
 * Decides whether the result of a job may be released. The first enabled rule in document order that matches wins; no
 * match releases. See docs/reference/policy.md#output-policy.
 *
 * The metadata phase checks only size, error and labels, and returns whether the content phase is needed. In the content
 * phase `findOutput` scans the body.
 *
 * @param onError receives errors that became part of the decision
 * @returns always a decision; an internal error, except in `findOutput`, quarantines with a fixed reason
 */
export function evaluateOutput(
  policy: Policy | undefined,
  request: OutputRequest,
  findOutput?: FindOutput,
  onError?: (error: unknown) => void,
): OutputDecision {
  if (!policy) return finished(quarantine('no policy is loaded'), '');
  try {
    return finished(decideOutput(policy, request, findOutput, onError), policy.snapshot);
  } catch (error) {
    onError?.(error);
    return finished(quarantine('the output check failed'), policy.snapshot);
  }
}

function decideOutput(
  { compiled, defaultTenant }: Policy,
  request: OutputRequest,
  findOutput: FindOutput | undefined,
  onError: ((error: unknown) => void) | undefined,
): Result {
  const override = compiled.outputOverride(fold(request.topic));
  if (!(override?.enabled ?? compiled.outputPolicy.enabled)) return allow('the output policy is off');
  const facts = outputFacts(request, defaultTenant);
  const rules = compiled.outputRules
    .filter((rule) => metadataHolds(rule, facts, request))
    .map((rule) => ({ ...rule, needs: chosenNeeds(rule.needs, override), looks: !needsNothing(rule.needs) }))
    .filter(({ looks, needs }) => !looks || !needsNothing(needs));
  if (request.phase === 'metadata') return withoutBody(rules);
  return withBody(rules, override?.fail_mode ?? compiled.outputPolicy.fail_mode, (needs) =>
    safely(findOutput, needs, onError),
  );
}

/** Rules that scan the body cannot be decided yet; a later rule that withholds need not wait for them. */
function withoutBody(rules: readonly (CompiledOutputRule & { looks: boolean })[]): Result {
  const decided = rules.findIndex(({ looks }) => !looks);
  const earlier = decided < 0 ? rules : rules.slice(0, decided);
  const rule = rules[decided];
  const waiting = earlier;
  if (!rule)
    return { ...allow(waiting.length > 0 ? 'the content is still to be checked' : 'no output rule applies'), waiting };
  const answer = toAnswer(rule, []);
  return answer.decision === 'ALLOW' ? { ...answer, waiting } : answer;
}

function withBody(
  rules: readonly (CompiledOutputRule & { looks: boolean })[],
  failMode: 'open' | 'closed',
  scanFor: FindOutput,
): Result {
  const seen: ContentFinding[] = [];
  const remark = (type: string) =>
    seen.some((one) => one.type === type) || seen.push({ type, severity: 'low', confidence: 1 });
  for (const rule of rules) {
    if (!rule.looks) return withFindings(toAnswer(rule, []), seen);
    const scan = scanFor(rule.needs);
    if (scan.kind === 'unreadable') return unreadable();
    if (scan.kind === 'fault') {
      if (failMode === 'closed') return { ...quarantine('the output could not be scanned'), rule_id: rule.id };
      remark('scan_skipped');
      continue;
    }
    if (scan.truncated) remark('content_truncated');
    if (scan.findings.length > 0) return withFindings(toAnswer(rule, scan.findings), seen);
  }
  return withFindings(allow('no output rule matched'), seen);
}

/** A scanner that throws counts as failed, which the fail mode handles. */
function safely(
  findOutput: FindOutput | undefined,
  needs: ContentNeeds,
  onError?: (error: unknown) => void,
): OutputScan {
  try {
    return findOutput?.(needs) ?? { kind: 'fault' };
  } catch (error) {
    onError?.(error);
    return { kind: 'fault' };
  }
}

function metadataHolds(rule: CompiledOutputRule, facts: Facts, request: OutputRequest): boolean {
  const hasError = Boolean(request.error_message || request.error_code);
  if (rule.hasError !== undefined && rule.hasError !== hasError) return false;
  if (rule.sizeLimit !== undefined && !((request.output_size_bytes ?? 0) > rule.sizeLimit)) return false;
  return firstFailing(rule.conditions, facts) === undefined;
}

function outputFacts(request: OutputRequest, defaultTenant: string | undefined): Facts {
  const { topic, tenant, labels, risk_tags = [], capabilities = [] } = request;
  const facts = buildFacts(
    { topic, ...(tenant !== undefined && { tenant }), ...(labels && { labels }), meta: { risk_tags } },
    defaultTenant,
  );
  return { ...facts, capabilities: capabilities.map(fold) };
}

const scannerByFinding: Readonly<Record<string, string>> = {
  secret_leak: 'secret',
  pii: 'pii',
  code_injection: 'injection',
};

/** A topic override with `scanners` runs only those on its topics. */
function chosenNeeds(needs: ContentNeeds, override: OutputOverride | undefined): ContentNeeds {
  const chosen = override?.scanners;
  if (!chosen?.length) return needs;
  const scanners = needs.scanners.filter((scanner) => chosen.includes(scanner));
  const detectors = needs.detectors.filter(
    (type) => type === 'custom' || chosen.includes(scannerByFinding[type] ?? ''),
  );
  return { ...needs, scanners, detectors };
}

const allow = (reason: string): DraftDecision => ({ decision: 'ALLOW', reason, rule_id: '', findings: [] });
const quarantine = (reason: string): DraftDecision => ({ decision: 'QUARANTINE', reason, rule_id: '', findings: [] });

/** Redaction needs a finding to remove; without one it would release the whole body. */
function toAnswer({ id, action, reason }: CompiledOutputRule, findings: ContentFinding[]): DraftDecision {
  const decision = action === 'REDACT' && findings.length === 0 ? 'QUARANTINE' : action;
  return { decision, reason, rule_id: id, findings };
}

const withFindings = (answer: DraftDecision, more: ContentFinding[]): DraftDecision => ({
  ...answer,
  findings: [...answer.findings, ...more],
});

const unreadable = (): DraftDecision => ({
  ...quarantine('the result could not be read'),
  findings: [{ type: 'pointer_unreadable', severity: 'high', confidence: 1 }],
});

function finished({ waiting = [], ...answer }: Result, snapshot: string): OutputDecision {
  return {
    ...answer,
    policy_snapshot: snapshot,
    contentPhaseNeeded: waiting.length > 0,
    hold: waiting.some(({ hold }) => hold),
  };
}
