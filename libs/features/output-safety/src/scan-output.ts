import type { CarryEntry, JobRecord } from '@svc/store';
import { checkContent } from './check-content';
import { endBadly } from '@svc/jobs';
import type { ResultFacts } from './output-facts';
import type { OutputSafetyDeps } from './output-safety-deps';
import { tellOutput } from './tell-output';

/** How long the scheduler that wrote a success has for its scan before another takes it from the queue. */
const netMs = 10_000;

/** The queue entry that carries the scan of a job's result. */
export const scanEntry = ({ id, attempts, dispatch_id: dispatchId }: JobRecord): CarryEntry => ({
  queue: 'outputScan',
  suffix: String(attempts),
  delay_ms: netMs,
  payload: JSON.stringify({ job_id: id, dispatch_id: dispatchId ?? '' }),
});

/**
 * The second phase, after the success is written, from the queue. Safe to run twice: the second quarantine is refused by
 * the job table, the second redaction has the same pointer.
 */
export async function scanOutput(deps: OutputSafetyDeps, id: string, dispatchId: string): Promise<void> {
  const job = await deps.store.jobs.load(id);
  if (!job || job.state !== 'SUCCEEDED' || (dispatchId !== '' && job.dispatch_id !== dispatchId)) return;
  await scanJob(deps, job, {
    result_ptr: job.output_safety?.original_ptr ?? job.result_ptr ?? '',
    error_message: '',
    error_code: '',
    worker_id: job.worker_id ?? '',
    execution_ms: job.execution_ms ?? 0,
    artifact_ptrs: job.artifact_ptrs ?? [],
  });
}

/** @param entry the queue entry to take away once the verdict is written; absent when the queue itself runs this */
export async function scanJob(
  deps: OutputSafetyDeps,
  job: JobRecord,
  result: ResultFacts,
  entry?: CarryEntry,
): Promise<void> {
  const check = await checkContent(deps, job, result);
  const { output_safety: verdict } = check.set;
  let isWritten = false;
  if (check.decision === 'QUARANTINE') {
    const message = verdict?.reason || 'output quarantined';
    const ending = { event: 'quarantine', code: 'output_quarantined_async', message } as const;
    isWritten = await endBadly(deps, job, ending, { set: check.set });
  }
  const fields = check.decision === 'QUARANTINE' ? {} : check.set;
  const where = { states: ['SUCCEEDED'], dispatchId: job.dispatch_id ?? '' } as const;
  if (entry || Object.keys(fields).length > 0) {
    isWritten = (await deps.store.jobs.note(job.id, where, fields, entry)) || isWritten;
  }
  if (isWritten) await tellOutput(deps, job, verdict);
}
