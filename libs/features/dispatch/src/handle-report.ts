import type { JobProgress } from '@svc/contract';
import { isInFlight } from '@svc/lifecycle';
import { buildOutputRequest } from '@svc/output-safety';
import { withTimeout } from '@svc/runtime';
import { builtInScanners, redact, redactText, scan } from '@svc/scanning';
import type { ResultJob } from '@svc/store';
import { TAIL_CHARS, type DroppedReport, type ReportState } from './report-states';
import { lacksRequiredDispatch } from './require-dispatch';
import type { SchedulingDeps } from './scheduling-deps';

const MAX_LINES = 100;
const MAX_LINE_CHARS = 2_000;
const MAX_OUTPUT_CHARS = 16_384;
const CHECK_TIMEOUT_MS = 5_000;
const levels: ReadonlySet<string> = new Set(['debug', 'info', 'warn', 'error']);

/**
 * Logs log lines and partial output of a job, and announces them to stream clients. They count only from the assigned worker
 * and for the current dispatch. Secrets are masked, and output policy sees every part of the output before clients do.
 * See docs/reference/worker-protocol.md#logs-and-partial-output.
 */
export async function handleReport(deps: SchedulingDeps, senderId: string, report: JobProgress): Promise<void> {
  const { job_id: jobId, dispatch, logs, output } = report;
  const { dispatch_id: dispatchId = '', assigned_worker_id: assigned = '' } = dispatch ?? {};
  const drop = (reason: DroppedReport) => deps.events.reportDropped(reason, senderId, jobId);
  if (assigned !== '' && assigned !== senderId) return drop('not_holder');
  if (logs.length > MAX_LINES || output.length > MAX_OUTPUT_CHARS) return drop('size');
  const bytes = logs.reduce((sum, { message }) => sum + message.length, output.length);
  if (!deps.reports.allow(senderId, jobId, bytes)) return drop('rate');
  if (await lacksRequiredDispatch(deps, 'progress', senderId, report)) return;

  const isAdded = await deps.reports.inOrder(
    [senderId, jobId, dispatchId],
    async (state) => (await addReport(deps, senderId, report, dispatchId, state)) === 'added',
  );
  if (!isAdded) drop('not_holder');
}

async function addReport(
  deps: SchedulingDeps,
  senderId: string,
  { job_id: jobId, logs, output, output_offset }: JobProgress,
  dispatchId: string,
  state: ReportState,
): Promise<'added' | 'stale' | 'missing'> {
  const at = deps.clock.nowUs();
  const reports: object[] = [];
  if (logs.length > 0) reports.push({ kind: 'log', at, lines: logs.map((line) => toLine(line, at)) });
  if (output !== '' && !state.isWithheld) {
    // Before policy is asked, so that only the worker of a job can cause evaluations.
    const job = await findJob(deps, senderId, jobId, dispatchId);
    if (!job) return 'stale';
    const checked = await checkOutput(deps, job, state.tail, output);
    state.tail = (state.tail + output).slice(-TAIL_CHARS);
    state.isWithheld = checked.kind === 'refused';
    const isShown = checked.kind === 'shown';
    reports.push(
      isShown ? { kind: 'output', at, text: checked.text, offset: output_offset } : { kind: 'withheld', at },
    );
  }
  if (reports.length === 0) return (await findJob(deps, senderId, jobId, dispatchId)) ? 'added' : 'stale';
  return deps.store.eventLogs.report(
    jobId,
    senderId,
    dispatchId,
    reports.map((report) => JSON.stringify(report)),
  );
}

const toLine = ({ level, message, at_ms }: JobProgress['logs'][number], atUs: number) => ({
  level: levels.has(level) ? level : 'info',
  message: redactText(message.slice(0, MAX_LINE_CHARS)),
  at_ms: at_ms > 0 && at_ms < Number.MAX_SAFE_INTEGER ? at_ms : Math.floor(atUs / 1_000),
});

async function findJob(
  { inFlight, store }: SchedulingDeps,
  senderId: string,
  jobId: string,
  dispatchId: string,
): Promise<ResultJob | undefined> {
  const isHeld = (job: ResultJob | undefined) =>
    job?.worker_id === senderId && (dispatchId === '' ? isInFlight(job.state) : dispatchId === job.dispatch_id);
  const known = inFlight.find(jobId);
  if (isHeld(known)) return known;
  const job = await store.jobs.load(jobId);
  return isHeld(job) ? job : undefined;
}

/** A part of the output as clients may see it; `refused` by output policy, or `unchecked` because policy was unavailable. */
type Checked = { kind: 'shown'; text: string } | { kind: 'refused' | 'unchecked' };

/** Removes secrets and what output policy redacts. @param tail the output before it */
async function checkOutput(deps: SchedulingDeps, job: ResultJob, tail: string, output: string): Promise<Checked> {
  const { kernel, clock, events, settings } = deps;
  const before = Buffer.from(tail);
  const body = Buffer.concat([before, Buffer.from(output)]);
  const secrets = scan(body, { scanners: ['secret'] }, builtInScanners, { maxBytes: body.length }).findings;
  if (!settings.outputPolicyEnabled) return { kind: 'shown', text: mask(body, before.length, secrets) };
  const facts = {
    result_ptr: '',
    artifact_ptrs: [],
    error_message: '',
    error_code: '',
    worker_id: job.worker_id ?? '',
    execution_ms: 0,
  };
  const startedUs = clock.nowUs();
  try {
    const request = { ...buildOutputRequest(job, facts, body.length), output_content: body };
    const verdict = await withTimeout(kernel.checkOutput(request), CHECK_TIMEOUT_MS);
    events.outputEvaluated(job.topic, verdict.decision, (clock.nowUs() - startedUs) / 1_000);
    if (verdict.decision === 'ALLOW') return { kind: 'shown', text: mask(body, before.length, secrets) };
    const places = verdict.findings.filter(({ offset, length }) => offset !== undefined && length !== undefined);
    // A finding without a place cannot be removed.
    if (verdict.decision === 'QUARANTINE' || places.length < verdict.findings.length) return { kind: 'refused' };
    return { kind: 'shown', text: mask(body, before.length, [...secrets, ...places]) };
  } catch (error) {
    // Readers get the result after its own check, so the fail mode of results does not apply here.
    events.outputSkipped(job.topic, error);
    return { kind: 'unchecked' };
  }
}

type Range = { offset?: number; length?: number };

/** The body from a position, without the findings; of one that begins earlier, the rest is removed. */
function mask(body: Buffer, from: number, findings: readonly Range[]): string {
  const placed = findings.map(({ offset = 0, length = 0 }) => ({ offset: offset - from, length }));
  return Buffer.from(redact(body.subarray(from), placed)).toString();
}
