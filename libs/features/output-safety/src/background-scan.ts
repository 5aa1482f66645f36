import { failJob } from '@svc/jobs';
import type { JobRecord, QueueEntry, ResultJob } from '@svc/store';
import { checkContent } from './check';
import type { OutputSafetyDeps } from './output-safety-deps';
import { publishOutputEvent } from './record';
import { TenantTurns } from './tenant-turns';
import { ResultBody, type ResultFacts } from './result-body';

/** Time that the scheduler which wrote a success has for the scan before another takes it from the queue. */
const takeoverDelayMs = 10_000;
const maxScans = 8;
const maxWaiting = 1_000;

type ScannedJob = Pick<JobRecord, 'id' | 'attempts' | 'dispatch_id'>;
/** The queue entry of the scan of a job's result. */
export const scanEntry = ({ id, attempts, dispatch_id: dispatchId }: ScannedJob): QueueEntry => ({
  queue: 'outputScan',
  suffix: String(attempts),
  delay_ms: takeoverDelayMs,
  payload: JSON.stringify({ job_id: id, dispatch_id: dispatchId ?? '' }),
});

/**
 * The second phase, after the success is written, from the queue. Idempotent: the job table refuses a second quarantine, and
 * a second redaction writes the same pointer.
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

/** @param entry the queue entry to remove once the verdict is written; absent when the queue itself runs the scan */
async function scanJob(deps: OutputSafetyDeps, job: ResultJob, result: ResultFacts, entry?: QueueEntry): Promise<void> {
  const body = new ResultBody(deps.store.data, job.id, result.result_ptr);
  const check = await checkContent(deps, { job, result, body });
  const { output_safety: verdict } = check.set;
  let isWritten = false;
  if (check.decision === 'QUARANTINE') {
    const message = verdict?.reason || 'output quarantined';
    const ending = { event: 'quarantine', code: 'output_quarantined_async', message } as const;
    isWritten = await failJob(deps, job, ending, { set: check.set });
  }
  const fields = check.decision === 'QUARANTINE' ? {} : check.set;
  const where = { states: ['SUCCEEDED'], dispatchId: job.dispatch_id ?? '' } as const;
  if (entry || Object.keys(fields).length > 0) {
    isWritten = (await deps.store.jobs.note(job.id, where, fields, entry)) || isWritten;
  }
  if (isWritten) await publishOutputEvent(deps, job, verdict);
}

/**
 * Scans the successes that this process has written, without a round trip through the queue. Their queue entries remain until
 * the verdict is written: when this process dies or has too many scans, another one runs them from the queue. Tenants take
 * turns by weight, as in lanes, so a scan does not wait for the backlog of another tenant.
 */
export class ScanRunner {
  private readonly waiting = new TenantTurns<{ job: ResultJob; result: ResultFacts }>(maxWaiting);
  private running = 0;

  constructor(private readonly deps: OutputSafetyDeps) {}

  /** @param job as it is after its success was written */
  soon(job: ResultJob, result: ResultFacts): void {
    this.waiting.push(job.tenant, { job, result }, job.turn_cost);
    this.next();
  }

  private next(): void {
    const scan = this.running < maxScans ? this.waiting.shift() : undefined;
    if (!scan) return;
    this.running++;
    scanJob(this.deps, scan.job, scan.result, scanEntry(scan.job))
      .catch((error: unknown) => this.deps.events.scanDeferred(scan.job.id, error))
      .finally(() => {
        this.running--;
        this.next();
      });
  }
}
