import type { JobResult } from '@svc/contract';
import type { OutputCheckRequest, OutputVerdict } from '@svc/kernel-client';
import { withTimeout } from '@svc/runtime';
import type { JobRecord } from '@svc/store';
import { checkBody } from './check-body';
import { type Brought, measured, question, readBody, safety } from './output-facts';
import { writeRedacted } from './redact-output';
import type { OutputSafetyDeps } from './output-safety-deps';

export interface MetadataCheck {
  decision: 'ALLOW' | 'QUARANTINE' | 'REDACT';
  set: Partial<JobRecord>;
  /** Is there anything for the background scan to look for? */
  scanBody: boolean;
  /** ... before the result is released. */
  hold?: boolean;
}

const redactTimeoutMs = 5_000;

/**
 * The first phase, before the end is written: size, error and hints only, unless the answer is to redact. A check that
 * fails or is late does not hold the result back; it is marked as skipped and the background scan becomes mandatory.
 * See docs/reference/policy.md#output-policy.
 */
export async function checkMetadata(
  deps: OutputSafetyDeps,
  job: JobRecord,
  result: JobResult,
  { sizeBytes, hasBody }: Brought,
): Promise<MetadataCheck> {
  if (!deps.settings.outputPolicyEnabled) return { decision: 'ALLOW', set: {}, scanBody: false };
  const startedUs = deps.clock.nowUs();
  const ask = () => withTimeout(askMetadata(deps, question(job, result, sizeBytes)), deps.settings.outputMetaTimeoutMs);
  let verdict: OutputVerdict;
  try {
    verdict = await ask().catch(ask);
  } catch (error) {
    deps.events.outputSkipped(job.topic, error);
    const skipped = safety(deps, startedUs, 'sync', {
      decision: 'ALLOW',
      reason: 'the check could not be made',
      rule_id: '',
      policy_snapshot: '',
      findings: [],
    });
    return { decision: 'ALLOW', set: { output_safety: { ...skipped, skipped: true } }, scanBody: true };
  }
  deps.events.outputChecked(job.topic, 'sync', verdict.decision, (deps.clock.nowUs() - startedUs) / 1_000);
  const record = safety(deps, startedUs, 'sync', verdict);
  switch (verdict.decision) {
    case 'QUARANTINE':
      return {
        decision: 'QUARANTINE',
        set: { output_safety: { ...record, original_ptr: result.result_ptr } },
        scanBody: false,
      };
    case 'REDACT':
      return redactNow(deps, job, result, startedUs, verdict);
    case 'ALLOW':
      return {
        decision: 'ALLOW',
        set: { output_safety: record },
        scanBody: verdict.content_phase_needed && hasBody,
        hold: verdict.hold,
      };
  }
}

/**
 * What a worker reported as its error is all there: it is scanned now, since it is not kept with a success, and a job
 * without a body has no second phase.
 */
async function askMetadata(deps: OutputSafetyDeps, asked: OutputCheckRequest): Promise<OutputVerdict> {
  const kernel = measured(deps);
  const verdict = await kernel.checkOutput(asked);
  if (verdict.decision !== 'ALLOW' || !verdict.content_phase_needed || asked.error_message === '') return verdict;
  const ofError = await kernel.checkOutput({ ...asked, output_size_bytes: 0, output_content: Buffer.alloc(0) });
  // Of the error nothing can be cut out, so what would be redacted is withheld.
  return ofError.decision === 'ALLOW' ? verdict : { ...ofError, decision: 'QUARANTINE' };
}

/** A redaction asked for by the metadata alone still needs the body; without a clean copy the output is quarantined. */
async function redactNow(
  deps: OutputSafetyDeps,
  job: JobRecord,
  result: JobResult,
  startedUs: number,
  asked: OutputVerdict,
): Promise<MetadataCheck> {
  try {
    const { body, sizeBytes } = await readBody(deps, result.result_ptr);
    const asks = checkBody(measured(deps), question(job, result, sizeBytes), body, sizeBytes);
    const verdict = await withTimeout(asks, redactTimeoutMs);
    // Where nothing is found there is nothing to cut out, and the whole would be released.
    if (verdict.decision !== 'REDACT' || verdict.truncated) throw new Error('nothing to cut out');
    const redacted = await withTimeout(writeRedacted(deps, job, result, body, verdict), redactTimeoutMs);
    if (redacted === undefined) throw new Error('no clean copy');
    const record = safety(deps, startedUs, 'sync', { ...asked, findings: redacted.findings });
    return {
      decision: 'REDACT',
      set: {
        result_ptr: redacted.pointer,
        output_safety: { ...record, redacted_ptr: redacted.pointer, original_ptr: result.result_ptr },
      },
      scanBody: false,
    };
  } catch {
    const record = safety(deps, startedUs, 'sync', {
      ...asked,
      decision: 'QUARANTINE',
      reason: 'redaction could not be made',
    });
    return {
      decision: 'QUARANTINE',
      set: { output_safety: { ...record, original_ptr: result.result_ptr } },
      scanBody: false,
    };
  }
}
