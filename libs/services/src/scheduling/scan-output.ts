import { limits } from '@svc/contract';
import type { OutputVerdict } from '@svc/kernel-client';
import type { JobRecord, OutputSafetyRecord } from '@svc/store';
import { failMode } from '../effective-config';
import { finish } from './move-job';
import { isOwn, question, readBody, safety, within, writeRedacted } from './output-facts';
import type { SchedulingDeps } from './scheduling-deps';

const scanTimeoutMs = 30_000;

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
    const config = await deps.config.at({ tenant: job.tenant, team: job.request.team_id });
    if (failMode(config, 'output_fail_mode', deps.settings.outputFailMode) === 'open') return;
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
