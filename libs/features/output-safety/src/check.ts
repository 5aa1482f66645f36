import { isOwnResult, isStorePointer } from '@svc/contract';
import { toConfigScope } from '@svc/decision';
import type { OutputCheckRequest, OutputVerdict } from '@svc/kernel-client';
import { TimeLimitError, withTimeout } from '@svc/runtime';
import { failMode } from '@svc/settings';
import type { JobRecord, ResultJob } from '@svc/store';
import type { OutputSafetyDeps } from './output-safety-deps';
import { toOutputSafetyRecord, toRecordedFindings } from './record';
import type { ResultBody, ResultFacts, StoredBody } from './result-body';
import { type BodyVerdict, buildFinding, buildOutputRequest, measured, scanBody, writeRedacted } from './scan-body';

/** A result under check, with the job it belongs to. */
export interface CheckedResult {
  job: ResultJob;
  result: ResultFacts;
  body: ResultBody;
}

export interface MetadataCheck {
  decision: 'ALLOW' | 'QUARANTINE' | 'REDACT';
  set: Partial<JobRecord>;
  /** The body still has to be scanned. */
  scanBody: boolean;
  /** The scan must end before the result is released. */
  hold?: boolean;
}

export interface ContentCheck {
  /** SKIPPED: the body could not be scanned, and fail mode open releases the result. */
  decision: 'ALLOW' | 'REDACT' | 'QUARANTINE' | 'SKIPPED';
  set: Partial<JobRecord>;
}

const redactTimeoutMs = 5_000;
const scanTimeoutMs = 30_000;

/**
 * The first phase, before the success is written: size, error and labels; the body only if the verdict is to redact. A check
 * that fails or times out does not delay the result: it is marked as skipped, and the background scan becomes mandatory.
 * See docs/reference/policy.md#output-policy.
 */
export async function checkMetadata(deps: OutputSafetyDeps, output: CheckedResult): Promise<MetadataCheck> {
  if (!deps.settings.outputPolicyEnabled) return { decision: 'ALLOW', set: {}, scanBody: false };
  const { job, result, body } = output;
  const { sizeBytes, hasBody } = await body.head();
  const startedUs = deps.clock.nowUs();
  const request = buildOutputRequest(job, result, sizeBytes);
  const ask = () => withTimeout(askAboutMetadata(deps, request), deps.settings.outputMetaTimeoutMs);
  let verdict: OutputVerdict;
  try {
    verdict = await ask().catch(ask);
  } catch (error) {
    deps.events.outputSkipped(job.topic, error);
    const skipped = toOutputSafetyRecord(deps, startedUs, 'sync', {
      decision: 'ALLOW',
      reason: 'the check could not be made',
      rule_id: '',
      policy_snapshot: '',
      findings: [],
    });
    return { decision: 'ALLOW', set: { output_safety: { ...skipped, skipped: true } }, scanBody: true };
  }
  deps.events.outputChecked(job.topic, 'sync', verdict.decision, (deps.clock.nowUs() - startedUs) / 1_000);
  if (verdict.decision === 'REDACT') return redactNow(deps, output, startedUs, verdict);
  const record = toOutputSafetyRecord(deps, startedUs, 'sync', verdict);
  if (verdict.decision === 'QUARANTINE') {
    const set = { output_safety: { ...record, original_ptr: result.result_ptr } };
    return { decision: 'QUARANTINE', set, scanBody: false };
  }
  return {
    decision: 'ALLOW',
    set: { output_safety: record },
    scanBody: verdict.content_phase_needed && hasBody,
    hold: verdict.hold,
  };
}

/**
 * The error of a worker is part of the metadata. It is scanned now, since it is not stored with a success, and a job without
 * a body has no second phase.
 */
async function askAboutMetadata(deps: OutputSafetyDeps, request: OutputCheckRequest): Promise<OutputVerdict> {
  const kernel = measured(deps);
  const verdict = await kernel.checkOutput(request);
  if (verdict.decision !== 'ALLOW' || !verdict.content_phase_needed || request.error_message === '') return verdict;
  const ofError = await kernel.checkOutput({ ...request, output_size_bytes: 0, output_content: Buffer.alloc(0) });
  // Errors are not redacted, so a result whose error matches is withheld.
  return ofError.decision === 'ALLOW' ? verdict : { ...ofError, decision: 'QUARANTINE' };
}

/** A redaction on metadata alone still needs the body; without a clean copy the output is quarantined. */
async function redactNow(
  deps: OutputSafetyDeps,
  output: CheckedResult,
  startedUs: number,
  asked: OutputVerdict,
): Promise<MetadataCheck> {
  const { result_ptr: original } = output.result;
  try {
    const stored = await output.body.readForScan();
    const verdict = await withTimeout(scan(deps, output, stored), redactTimeoutMs);
    // Without a finding nothing would be removed, and the whole body would be released.
    if (verdict.decision !== 'REDACT' || verdict.truncated) throw new Error('nothing to redact');
    const redacted = await withTimeout(writeRedacted(deps, output, stored.body, verdict), redactTimeoutMs);
    if (redacted === undefined) throw new Error('no clean copy');
    const { pointer, findings } = redacted;
    const record = toOutputSafetyRecord(deps, startedUs, 'sync', { ...asked, findings });
    const set = { result_ptr: pointer, output_safety: { ...record, redacted_ptr: pointer, original_ptr: original } };
    return { decision: 'REDACT', set, scanBody: false };
  } catch {
    const withheld = { ...asked, decision: 'QUARANTINE', reason: 'redaction could not be made' } as const;
    const record = toOutputSafetyRecord(deps, startedUs, 'sync', withheld);
    const set = { output_safety: { ...record, original_ptr: original } };
    return { decision: 'QUARANTINE', set, scanBody: false };
  }
}

/**
 * The second phase: scans the body. Returns the fields to write; the caller moves the job.
 * See docs/reference/policy.md#output-policy.
 */
export async function checkContent(deps: OutputSafetyDeps, output: CheckedResult): Promise<ContentCheck> {
  const { job, result, body } = output;
  const pointer = result.result_ptr;
  if (pointer === '') return { decision: 'ALLOW', set: {} };
  const startedUs = deps.clock.nowUs();
  if (!isOwnResult(job.id, pointer)) {
    const where = isStorePointer(pointer)
      ? 'belongs to another job'
      : 'is kept in a store that the platform does not read';
    const findings = [buildFinding('pointer_unreadable', 'high')];
    return unscanned(deps, output, startedUs, new Error(`the result ${where}`), findings);
  }
  let verdict: BodyVerdict;
  let stored: StoredBody;
  try {
    stored = await body.readForScan();
    verdict = await withTimeout(scan(deps, output, stored), scanTimeoutMs);
    if (verdict.truncated && verdict.decision === 'ALLOW') throw new Error('the result is larger than what is scanned');
  } catch (error) {
    return unscanned(deps, output, startedUs, error);
  }
  const record = recordScan(deps, job, startedUs, verdict);
  if (verdict.decision === 'ALLOW') return { decision: 'ALLOW', set: { output_safety: record } };
  const withheld = (reason: string): ContentCheck => ({
    decision: 'QUARANTINE',
    set: { output_safety: { ...record, original_ptr: pointer, decision: 'QUARANTINE', reason } },
  });
  if (verdict.decision === 'QUARANTINE') return withheld(verdict.reason);
  // A part that was not scanned cannot be redacted, and a copy without it would lose data silently.
  if (verdict.truncated) return withheld('output too large to redact');
  const redacted = await writeRedacted(deps, output, stored.body, verdict);
  if (redacted === undefined) return withheld('redaction could not be made');
  const { pointer: copy, findings } = redacted;
  const copied = { findings: toRecordedFindings(findings), original_ptr: pointer, redacted_ptr: copy };
  return { decision: 'REDACT', set: { result_ptr: copy, output_safety: { ...record, ...copied } } };
}

/**
 * Scans a small body before the success is written, so that a clean one needs no second phase. Any other verdict, and any
 * error, is left to that phase.
 *
 * @returns the fields to write for a clean body; undefined when the second phase has to scan it
 */
export async function checkSmallBody(
  deps: OutputSafetyDeps,
  output: CheckedResult,
): Promise<Partial<JobRecord> | undefined> {
  const { body } = await output.body.head();
  if (!body) return undefined;
  const startedUs = deps.clock.nowUs();
  const scanning = scan(deps, output, { body, sizeBytes: body.length });
  const verdict = await withTimeout(scanning, deps.settings.outputMetaTimeoutMs).catch(() => undefined);
  if (verdict?.decision !== 'ALLOW' || verdict.truncated) return undefined;
  return { output_safety: recordScan(deps, output.job, startedUs, verdict) };
}

const scan = (deps: OutputSafetyDeps, { job, result }: CheckedResult, stored: StoredBody): Promise<BodyVerdict> =>
  scanBody(measured(deps), buildOutputRequest(job, result, stored.sizeBytes), stored);

/** Counts a scan. @returns the record to store with the job */
function recordScan(deps: OutputSafetyDeps, job: Pick<ResultJob, 'topic'>, startedUs: number, verdict: BodyVerdict) {
  deps.events.outputChecked(job.topic, 'async', verdict.decision, (deps.clock.nowUs() - startedUs) / 1_000);
  return {
    ...toOutputSafetyRecord(deps, startedUs, 'async', verdict),
    scanned_bytes: verdict.scanned_bytes,
    truncated: verdict.truncated,
    ...(verdict.decision === 'ALLOW' && verdict.findings.some(isSkip) && { skipped: true }),
  };
}

/** A scanner failed, and fail mode open of the policy ignored it. */
const isSkip = ({ type }: { type: string }): boolean => type === 'scan_skipped';

async function unscanned(
  deps: OutputSafetyDeps,
  { job, result }: CheckedResult,
  startedUs: number,
  error: unknown,
  findings: BodyVerdict['findings'] = [],
): Promise<ContentCheck> {
  deps.events.outputSkipped(job.topic, error);
  if (error instanceof TimeLimitError) deps.events.outputLate(job.topic);
  const config = await deps.config.at(toConfigScope(job, 'team'));
  const isOpen = failMode(config, 'output_fail_mode', deps.settings.outputFailMode) === 'open';
  const record = toOutputSafetyRecord(deps, startedUs, 'async', {
    decision: isOpen ? 'ALLOW' : 'QUARANTINE',
    reason: 'the output could not be scanned',
    rule_id: '',
    policy_snapshot: '',
    findings,
  });
  return isOpen
    ? { decision: 'SKIPPED', set: job.output_safety?.skipped ? {} : { output_safety: { ...record, skipped: true } } }
    : { decision: 'QUARANTINE', set: { output_safety: { ...record, original_ptr: result.result_ptr } } };
}
