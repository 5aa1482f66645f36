import { TimeLimitError, withTimeout } from '@svc/runtime';
import type { JobRecord } from '@svc/store';
import { toConfigScope } from '@svc/decision';
import { failMode } from '@svc/settings';
import { isOwnResult, isStorePointer } from '@svc/contract';
import { type BodyVerdict, checkBody } from './check-body';
import { measured, question, readBody, recordedFindings, type ResultFacts, safety } from './output-facts';
import { writeRedacted } from './redact-output';
import type { OutputSafetyDeps } from './output-safety-deps';

export interface ContentCheck {
  /** SKIPPED: it could not be made, and fail mode open lets the result pass. */
  decision: 'ALLOW' | 'REDACT' | 'QUARANTINE' | 'SKIPPED';
  set: Partial<JobRecord>;
}

const scanTimeoutMs = 30_000;

/**
 * The second phase: what stands in the body. It only looks and says what is to be written; the caller moves the job.
 * See docs/reference/policy.md#output-policy.
 */
export async function checkContent(deps: OutputSafetyDeps, job: JobRecord, result: ResultFacts): Promise<ContentCheck> {
  const pointer = result.result_ptr;
  if (pointer === '') return { decision: 'ALLOW', set: {} };
  const startedUs = deps.clock.nowUs();
  if (!isOwnResult(job.id, pointer)) {
    const where = isStorePointer(pointer)
      ? 'belongs to another job'
      : 'is kept in a store that the platform does not read';
    return unscanned(deps, job, pointer, startedUs, new Error(`the result ${where}`), [unreadable]);
  }
  let verdict: BodyVerdict;
  let body: Buffer;
  try {
    const read = await readBody(deps, pointer);
    body = read.body;
    verdict = await withTimeout(judge(deps, job, result, read), scanTimeoutMs);
    if (verdict.truncated && verdict.decision === 'ALLOW') throw new Error('the result is larger than what is scanned');
  } catch (error) {
    return unscanned(deps, job, pointer, startedUs, error);
  }
  const record = recordOf(deps, job, startedUs, verdict);
  if (verdict.decision === 'ALLOW') return { decision: 'ALLOW', set: { output_safety: record } };
  const withheld = (reason: string): ContentCheck => ({
    decision: 'QUARANTINE',
    set: { output_safety: { ...record, original_ptr: pointer, decision: 'QUARANTINE', reason } },
  });
  if (verdict.decision === 'QUARANTINE') return withheld(verdict.reason);
  // What was not scanned cannot be redacted, and handing on the clean part alone would lose data silently.
  if (verdict.truncated) return withheld('output too large to redact');
  const redacted = await writeRedacted(deps, job, result, body, verdict);
  if (redacted === undefined) return withheld('redaction could not be made');
  const { pointer: copy, findings } = redacted;
  const copied = { findings: recordedFindings(findings), original_ptr: pointer, redacted_ptr: copy };
  return { decision: 'REDACT', set: { result_ptr: copy, output_safety: { ...record, ...copied } } };
}

/**
 * The second phase ahead of its turn, for a body that is at hand whole while the end is being written. A clean one then needs
 * no phase of its own; anything else, and any trouble, is left to that phase.
 *
 * @returns what is to be remembered of a clean body; undefined = the second phase has to look
 */
export async function cleanContent(
  deps: OutputSafetyDeps,
  job: JobRecord,
  result: ResultFacts,
  body: Buffer,
): Promise<Partial<JobRecord> | undefined> {
  const startedUs = deps.clock.nowUs();
  const looked = judge(deps, job, result, { body, sizeBytes: body.length });
  const verdict = await withTimeout(looked, deps.settings.outputMetaTimeoutMs).catch(() => undefined);
  if (verdict?.decision !== 'ALLOW' || verdict.truncated) return undefined;
  return { output_safety: recordOf(deps, job, startedUs, verdict) };
}

const judge = (
  deps: OutputSafetyDeps,
  job: JobRecord,
  result: ResultFacts,
  read: { body: Buffer; sizeBytes: number },
) => checkBody(measured(deps), question(job, result, read.sizeBytes), read.body, read.sizeBytes);

/** Tells that a body was looked at. @returns what is kept of it with the job */
function recordOf(deps: OutputSafetyDeps, job: JobRecord, startedUs: number, verdict: BodyVerdict) {
  deps.events.outputChecked(job.topic, 'async', verdict.decision, (deps.clock.nowUs() - startedUs) / 1_000);
  return {
    ...safety(deps, startedUs, 'async', verdict),
    scanned_bytes: verdict.scanned_bytes,
    truncated: verdict.truncated,
    ...(verdict.decision === 'ALLOW' && verdict.findings.some(isSkip) && { skipped: true }),
  };
}

/** A scanner failed, and fail mode open of the policy let that pass. */
const isSkip = ({ type }: { type: string }): boolean => type === 'scan_skipped';

const unreadable: BodyVerdict['findings'][number] = {
  type: 'pointer_unreadable',
  severity: 'high',
  confidence: 1,
  detail: '',
  scanner: '',
  matched_pattern: '',
};

async function unscanned(
  deps: OutputSafetyDeps,
  job: JobRecord,
  pointer: string,
  startedUs: number,
  error: unknown,
  findings: BodyVerdict['findings'] = [],
): Promise<ContentCheck> {
  deps.events.outputSkipped(job.topic, error);
  if (error instanceof TimeLimitError) deps.events.outputLate(job.topic);
  const config = await deps.config.at(toConfigScope(job, 'team'));
  const isOpen = failMode(config, 'output_fail_mode', deps.settings.outputFailMode) === 'open';
  const record = safety(deps, startedUs, 'async', {
    decision: isOpen ? 'ALLOW' : 'QUARANTINE',
    reason: 'the output could not be scanned',
    rule_id: '',
    policy_snapshot: '',
    findings,
  });
  return isOpen
    ? { decision: 'SKIPPED', set: job.output_safety?.skipped ? {} : { output_safety: { ...record, skipped: true } } }
    : { decision: 'QUARANTINE', set: { output_safety: { ...record, original_ptr: pointer } } };
}
