import { limits } from '@svc/contract';
import {
  evaluateOutput,
  type ContentFinding,
  type ContentNeeds,
  type OutputDecision,
  type OutputRequest,
  type OutputScan,
  type Policy,
} from '@svc/policy';
import type { OutputCheckRequest, OutputVerdict } from '../kernel';
import type { ScanAnswer, ScanQuestion } from '../scan/scan-messages';
import { needsKey, needsMessage } from '../scan/scan-texts';

export interface OutputCheckDeps {
  scan(question: ScanQuestion): Promise<ScanAnswer>;
  onError(what: 'scan' | 'evaluation', error: unknown): void;
}

/** Decides whether a result may be released. See docs/reference/policy.md#output-policy. */
export async function checkOutput(
  policy: Policy | undefined,
  request: OutputCheckRequest,
  deps: OutputCheckDeps,
): Promise<OutputVerdict> {
  const onError = (error: unknown) => deps.onError('evaluation', error);
  const { output_content: body } = request;
  if (body === undefined) {
    return toVerdict(evaluateOutput(policy, { ...outputFacts(request), phase: 'metadata' }, undefined, onError));
  }
  const asked: OutputRequest = { ...outputFacts(request), phase: 'content' };
  const scans = await scanAhead(policy, asked, request, body, deps);
  const decision = evaluateOutput(policy, asked, (needs) => scans.get(needsKey(needs)) ?? { kind: 'fault' }, onError);
  return toVerdict(withCuttable(decision));
}

/** Evaluation is synchronous, scanning is not: a first pass without findings collects the patterns of all rules. */
async function scanAhead(
  policy: Policy | undefined,
  asked: OutputRequest,
  { error_message, output_size_bytes }: OutputCheckRequest,
  body: Buffer,
  { scan, onError }: OutputCheckDeps,
): Promise<ReadonlyMap<string, OutputScan>> {
  const wanted = new Map<string, ContentNeeds>();
  evaluateOutput(policy, asked, (needs) => {
    wanted.set(needsKey(needs), needs);
    return { kind: 'scanned', findings: [] };
  });
  if (wanted.size === 0) return new Map();
  const texts = error_message === '' ? [body] : [body, Buffer.from(error_message)];
  try {
    const question = {
      texts,
      needs: [...wanted.values()].map(needsMessage),
      maxBytes: limits.scanBytes,
    };
    const answer = await scan(question);
    const cut = output_size_bytes > body.length;
    return new Map([...wanted.keys()].map((key, i) => [key, toOutputScan(answer[i] ?? [], cut)]));
  } catch (error) {
    onError('scan', error);
    return new Map();
  }
}

function toOutputScan([ofBody, ofError]: ScanAnswer[number], cut: boolean): OutputScan {
  if (!ofBody) return { kind: 'fault' };
  const findings = [...ofBody.findings, ...(ofError?.findings ?? []).map(withoutPlace)];
  return { kind: 'scanned', findings, truncated: cut || ofBody.truncated };
}

/** An offset in the error text would be mistaken for one in the body. */
const withoutPlace = ({ offset: _offset, length: _length, ...finding }: ContentFinding): ContentFinding => finding;

/** A finding in the error text cannot be redacted in the body. */
function withCuttable(decision: OutputDecision): OutputDecision {
  if (decision.decision !== 'REDACT') return decision;
  const remarks = ['content_truncated', 'scan_skipped'];
  const cuttable = decision.findings.every(({ type, length }) => remarks.includes(type) || length !== undefined);
  return cuttable ? decision : { ...decision, decision: 'QUARANTINE' };
}

const outputFacts = (request: OutputCheckRequest): Omit<OutputRequest, 'phase'> => ({
  topic: request.topic,
  tenant: request.tenant,
  labels: request.labels,
  capabilities: request.capabilities,
  risk_tags: request.risk_tags,
  error_message: request.error_message,
  error_code: request.error_code,
  output_size_bytes: Math.max(request.output_size_bytes, request.output_content?.length ?? 0),
});

const toVerdict = (decision: OutputDecision): OutputVerdict => ({
  decision: decision.decision,
  reason: decision.reason,
  rule_id: decision.rule_id,
  policy_snapshot: decision.policy_snapshot,
  // Sets every field, as on the wire.
  findings: decision.findings.map((finding) => ({ detail: '', scanner: '', matched_pattern: '', ...finding })),
  content_phase_needed: decision.contentPhaseNeeded,
  hold: decision.hold,
});
