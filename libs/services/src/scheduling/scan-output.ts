import { checkContent } from './check-content';
import { finish } from './move-job';
import type { SchedulingDeps } from './scheduling-deps';

/**
 * The second phase, after the success is written: scans the body and quarantines or redacts. Safe to run twice: the second
 * quarantine is refused by the job table, the second redaction has the same pointer.
 */
export async function scanOutput(deps: SchedulingDeps, id: string, dispatchId: string): Promise<void> {
  const job = await deps.store.jobs.load(id);
  if (!job || job.state !== 'SUCCEEDED' || (dispatchId !== '' && job.dispatch_id !== dispatchId)) return;
  const check = await checkContent(deps, job, {
    result_ptr: job.output_safety?.original_ptr ?? job.result_ptr ?? '',
    error_message: '',
    error_code: '',
    worker_id: job.worker_id ?? '',
    execution_ms: job.execution_ms ?? 0,
    artifact_ptrs: job.artifact_ptrs ?? [],
  });
  if (check.decision === 'QUARANTINE') {
    const message = check.set.output_safety?.reason || 'output quarantined';
    await finish(deps, job, { event: 'quarantine', code: 'output_quarantined_async', message }, { set: check.set });
    return;
  }
  await deps.store.jobs.note(id, { states: ['SUCCEEDED'], dispatchId: job.dispatch_id ?? '' }, check.set);
}
