import type { JobResult } from '@svc/contract';
import type { OutputCheckRequest, OutputVerdict } from '@svc/kernel-client';
import { limits } from '@svc/contract';
import type { JobRecord, OutputSafetyRecord } from '@svc/store';
import { createHash } from 'node:crypto';
import { redact } from '@svc/scanning';
import { finish } from './move-job';
import type { SchedulingDeps } from './scheduling-deps';

export interface MetadataCheck {
  decision: 'ALLOW' | 'QUARANTINE' | 'REDACT';
  set: Partial<JobRecord>;
  /** Is there anything for the background scan to look for? */
  scanBody: boolean;
}

const redactTimeoutMs = 5_000;
const scanTimeoutMs = 30_000;
const readTries = 6;
const readPauseMs = 100;

/**
 * The first phase, before the end is written: size, error and hints only, unless the answer is to redact. A check that
 * fails or is late does not hold the result back; it is marked as skipped and the background scan becomes mandatory.
 * Engine contract A11; spec: "States and transitions".
 */
export async function checkMetadata(deps: SchedulingDeps, job: JobRecord, result: JobResult): Promise<MetadataCheck> {
  if (!deps.settings.outputPolicyEnabled) return { decision: 'ALLOW', set: {}, scanBody: false };
  const startedUs = deps.clock.nowUs();
  const sizeBytes = isOwn(job.id, result.result_ptr) ? await deps.store.data.size(result.result_ptr) : 0;
  const ask = () => within(askMetadata(deps, question(job, result, sizeBytes)), deps.settings.outputMetaTimeoutMs);
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
        scanBody: verdict.content_phase_needed && sizeBytes > 0,
      };
  }
}

/**
 * What a worker reported as its error is all there: it is scanned now, since it is not kept with a success, and a job
 * without a body has no second phase.
 */
async function askMetadata({ kernel }: SchedulingDeps, asked: OutputCheckRequest): Promise<OutputVerdict> {
  const verdict = await kernel.checkOutput(asked);
  if (verdict.decision !== 'ALLOW' || !verdict.content_phase_needed || asked.error_message === '') return verdict;
  const ofError = await kernel.checkOutput({ ...asked, output_size_bytes: 0, output_content: Buffer.alloc(0) });
  // Of the error nothing can be cut out, so what would be redacted is withheld.
  return ofError.decision === 'ALLOW' ? verdict : { ...ofError, decision: 'QUARANTINE' };
}

/** A redaction asked for by the metadata alone still needs the body; without a clean copy the output is quarantined. */
async function redactNow(
  deps: SchedulingDeps,
  job: JobRecord,
  result: JobResult,
  startedUs: number,
  asked: OutputVerdict,
): Promise<MetadataCheck> {
  try {
    const body = await readBody(deps, result.result_ptr);
    const verdict = await within(
      deps.kernel.checkOutput({ ...question(job, result, body.sizeBytes), output_content: body.body }),
      redactTimeoutMs,
    );
    if (verdict.decision === 'QUARANTINE' || body.sizeBytes > body.body.length) throw new Error('no clean copy');
    const pointer = await writeRedacted(deps, job.id, body.body, verdict);
    const record = safety(deps, startedUs, 'sync', { ...asked, findings: verdict.findings });
    return {
      decision: 'REDACT',
      set: {
        result_ptr: pointer,
        output_safety: { ...record, redacted_ptr: pointer, original_ptr: result.result_ptr },
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

/**
 * The second phase, after the success is written: scans the body and quarantines or redacts. Safe to run twice: the second
 * quarantine is refused by the job table, the second redaction has the same pointer.
 */
export async function scanOutput(deps: SchedulingDeps, id: string, dispatchId: string): Promise<void> {
  const job = await deps.store.jobs.load(id);
  if (!job || job.state !== 'SUCCEEDED' || (dispatchId !== '' && job.dispatch_id !== dispatchId)) return;
  const pointer = job.output_safety?.original_ptr ?? job.result_ptr ?? '';
  if (!isOwn(id, pointer)) return;
  const startedUs = deps.clock.nowUs();
  let verdict: OutputVerdict;
  let body: { body: Buffer; sizeBytes: number };
  try {
    body = await readBody(deps, pointer);
    const result = {
      result_ptr: pointer,
      error_message: '',
      error_code: '',
      worker_id: job.worker_id ?? '',
      execution_ms: job.execution_ms ?? 0,
      artifact_ptrs: job.artifact_ptrs ?? [],
    };
    verdict = await within(
      deps.kernel.checkOutput({ ...question(job, result, body.sizeBytes), output_content: body.body }),
      scanTimeoutMs,
    );
  } catch (error) {
    deps.events.outputSkipped(job.topic, error);
    if (deps.settings.outputFailMode === 'open') return;
    await quarantineLate(
      deps,
      job,
      safety(deps, startedUs, 'async', {
        decision: 'QUARANTINE',
        reason: 'the output could not be scanned',
        rule_id: '',
        policy_snapshot: '',
        findings: [],
      }),
      pointer,
    );
    return;
  }
  deps.events.outputChecked(job.topic, 'async', verdict.decision, (deps.clock.nowUs() - startedUs) / 1_000);
  const record: OutputSafetyRecord = {
    ...safety(deps, startedUs, 'async', verdict),
    scanned_bytes: Math.min(body.body.length, limits.scanBytes),
    truncated: body.sizeBytes > body.body.length,
  };
  switch (verdict.decision) {
    case 'QUARANTINE':
      return quarantineLate(deps, job, record, pointer);
    case 'REDACT': {
      // What was not scanned cannot be redacted, and handing on the clean part alone would lose data silently.
      if (record.truncated)
        return quarantineLate(
          deps,
          job,
          { ...record, decision: 'QUARANTINE', reason: 'output too large to redact' },
          pointer,
        );
      const redacted = await writeRedacted(deps, id, body.body, verdict);
      await deps.store.jobs.note(
        id,
        { states: ['SUCCEEDED'], dispatchId: job.dispatch_id ?? '' },
        { result_ptr: redacted, output_safety: { ...record, redacted_ptr: redacted, original_ptr: pointer } },
      );
      return;
    }
    case 'ALLOW':
      await deps.store.jobs.note(
        id,
        { states: ['SUCCEEDED'], dispatchId: job.dispatch_id ?? '' },
        { output_safety: record },
      );
  }
}

const quarantineLate = (
  deps: SchedulingDeps,
  job: JobRecord,
  record: OutputSafetyRecord,
  pointer: string,
): Promise<undefined> =>
  finish(
    deps,
    job,
    { event: 'quarantine', code: 'output_quarantined_async', message: record.reason || 'output quarantined' },
    { set: { output_safety: { ...record, original_ptr: pointer } } },
  );

async function writeRedacted(deps: SchedulingDeps, id: string, body: Buffer, verdict: OutputVerdict): Promise<string> {
  const clean = Buffer.from(redact(body, verdict.findings));
  return deps.store.data.writeRedacted(id, createHash('sha256').update(clean).digest('hex'), clean);
}

/** A worker may have said it is done a moment before its result is visible; after a few tries it is missing. */
async function readBody(deps: SchedulingDeps, pointer: string): Promise<{ body: Buffer; sizeBytes: number }> {
  for (let tries = 1; ; tries++) {
    const found = await deps.store.data.read(pointer, limits.scanBytes);
    if (found) return found;
    if (tries === readTries) throw new Error('the result is not there');
    await new Promise((resolve) => setTimeout(resolve, readPauseMs));
  }
}

/** Pointers at anything but the job's own result are handed on and never followed. */
const isOwn = (id: string, pointer: string): boolean =>
  pointer === `redis://res:${id}` || pointer.startsWith(`redis://res:${id}:`);

type ResultFacts = Pick<
  JobResult,
  'result_ptr' | 'error_message' | 'error_code' | 'worker_id' | 'execution_ms' | 'artifact_ptrs'
>;

const question = (job: JobRecord, result: ResultFacts, sizeBytes: number) => ({
  job_id: job.id,
  topic: job.topic,
  tenant: job.tenant,
  labels: job.request.labels,
  result_ptr: result.result_ptr,
  artifact_ptrs: [...result.artifact_ptrs],
  error_message: result.error_message,
  error_code: result.error_code,
  worker_id: result.worker_id,
  execution_ms: result.execution_ms,
  output_size_bytes: sizeBytes,
  capabilities: job.request.capability ? [job.request.capability] : [],
  risk_tags: job.request.risk_tags,
  principal_id: job.request.principal_id,
  pack_id: job.request.pack_id ?? '',
});

const safety = (
  deps: SchedulingDeps,
  startedUs: number,
  phase: 'sync' | 'async',
  verdict: Pick<OutputVerdict, 'decision' | 'reason' | 'rule_id' | 'policy_snapshot' | 'findings'>,
): OutputSafetyRecord => ({
  decision: verdict.decision,
  reason: verdict.reason,
  rule_id: verdict.rule_id,
  policy_snapshot: verdict.policy_snapshot,
  // The seed's `pattern` is emitted beside the contract's `matched_pattern`.
  findings: verdict.findings.map((finding) => ({ ...finding, pattern: finding.matched_pattern })),
  phase,
  checked_at: deps.clock.nowUs(),
  check_duration_ms: (deps.clock.nowUs() - startedUs) / 1_000,
});

function within<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
