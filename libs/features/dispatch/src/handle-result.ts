import { type JobResult, JobStatus, jobStatusName, shorten } from '@svc/contract';
import { inFlightStates, type JobState } from '@svc/lifecycle';
import { backoffMs, isRetryable, timeoutsFor } from '@svc/routing';
import { toMicros } from '@svc/policy';
import { redactText } from '@svc/scanning';
import type { JobRecord, MoveExtras, ResultJob } from '@svc/store';
import { isStaleDispatch, toConfigScope, toWorkflowStep } from '@svc/decision';
import { failJob, isForeignResult, transitionAndPublish } from '@svc/jobs';
import { checkResult } from '@svc/registry';
import {
  type CheckedResult,
  checkContent,
  checkMetadata,
  checkSmallBody,
  type ContentCheck,
  publishOutputEvent,
  ResultBody,
  scanEntry,
} from '@svc/output-safety';
import { entryPriority, delayToDeadline } from './queue-entry';
import type { FreedSlots } from './freed-slots';
import { findInlineFault, getInlineBody, openTicket, withInlinePointer } from './inline-data';
import { retryCap } from './place-job';
import { afterPreemption } from './preempt';
import { lacksRequiredDispatch, learnEcho } from './require-dispatch';
import { checkReferences, withPointers } from './result-references';
import { retrySettings } from './retry-settings';
import type { SchedulingDeps } from './scheduling-deps';

/**
 * Records the result of a worker. Results count only from the assigned worker and for the current dispatch; duplicates and
 * late results change nothing. Returns once the outcome is written, so that the message may then be acknowledged.
 * See docs/reference/jobs.md#results.
 */
export async function handleResult(deps: SchedulingDeps, senderId: string, packet: JobResult): Promise<void> {
  if (await lacksRequiredDispatch(deps, 'result', senderId, packet)) return;
  const result = withBoundedCode(withInlinePointer(withPointers(packet)));
  const body = new ResultBody(deps.store.data, result.job_id, result.result_ptr, getInlineBody(result));
  if (deps.settings.outputPolicyEnabled && result.status === JobStatus.JOB_STATUS_SUCCEEDED) body.prefetch();
  // The cached record or the ticket saves a read. Either may be stale: the write is guarded by dispatch id and worker, and
  // when it is refused the record is read from Redis.
  const usable = (job: ResultJob | undefined) => (findIgnoreReason(deps, job, senderId, result) ? undefined : job);
  const known = usable(deps.inFlight.find(result.job_id)) ?? usable(openTicket(deps, result));
  if (known && (await applyResult(deps, known, result, body))) return;
  const job = await deps.store.jobs.load(result.job_id);
  const refusal = findIgnoreReason(deps, job, senderId, result);
  if (refusal || !job) {
    deps.events.ignoredResult(result.job_id, refusal ?? 'unknown job');
    // Heartbeats counted a cancelled or preempted job until now, unless its slot was already freed. A count that is too low
    // does no harm: Redis still limits the slots. See docs/reference/worker-protocol.md#cancellation.
    if (senderId === result.worker_id && !deps.registry.endEarlyRelease(senderId, result.job_id))
      freeSlot(deps, senderId);
    if (job && senderId === job.worker_id) await afterPreemption(deps, job, result.dispatch);
    return;
  }
  await applyResult(deps, toStarted(job), result, body);
}

/** The write of RUNNING follows the dispatch by some time; a result shows that the worker has begun. */
const toStarted = (job: JobRecord): JobRecord =>
  job.state === 'DISPATCHED'
    ? { ...job, state: 'RUNNING', ...(job.dispatched_at !== undefined && { started_at: job.dispatched_at }) }
    : job;

/** Writes the outcome and frees the worker's slot. Returns whether this call wrote it. */
async function applyResult(
  deps: SchedulingDeps,
  job: ResultJob,
  result: JobResult,
  body: ResultBody,
): Promise<boolean> {
  const freed: Freed = {};
  if (!(await writeOutcome({ deps, job, result, body, freed }))) return false;
  deps.inFlight.forget(job.id);
  deps.starts.drop(job.id);
  if (job.worker_id) {
    deps.registry.adjustActive(job.worker_id, -1);
    if (!freed.slots?.isFilled) deps.wake(job.worker_id);
  }
  await learnEcho(deps, result.worker_id, result.dispatch);
  return true;
}

function freeSlot({ registry, wake }: SchedulingDeps, workerId: string): void {
  registry.adjustActive(workerId, -1);
  wake(workerId);
}

/** States in which a worker has the job, or may have it. */
const withWorker: readonly JobState[] = [...inFlightStates, 'SCHEDULED'];

/** Reason that a result is ignored, or undefined. See docs/reference/worker-protocol.md#fencing. */
function findIgnoreReason(
  { registry }: Pick<SchedulingDeps, 'registry'>,
  job: ResultJob | undefined,
  senderId: string,
  result: JobResult,
): string | undefined {
  if (!job) return 'unknown job';
  if (!withWorker.includes(job.state)) return `job is ${job.state}`;
  if (job.worker_id !== result.worker_id || senderId !== result.worker_id) return 'not the worker that holds it';
  if (isStaleDispatch(result.dispatch, job)) return 'stale dispatch';
  const { tenant_id: tenant = '' } = result.identity ?? {};
  if (tenant !== '' && tenant !== job.tenant) return 'identity of another tenant';
  // Its credential was replaced by one of another tenant while it had the job.
  if (!registry.serves(senderId, job.tenant)) return 'tenant not allowed';
  return undefined;
}

/** Codes are part of reasons, dead letters and events. */
const withBoundedCode = (result: JobResult): JobResult =>
  result.error_code.length <= MAX_CODE_CHARS
    ? result
    : { ...result, error_code: shorten(result.error_code, MAX_CODE_CHARS) };
const MAX_CODE_CHARS = 256;

const errorTextChars = 2_000;
/** A higher cost is treated as an error of the worker, and ignored. */
const maxCostUsd = 1_000_000;

/** Error texts of workers are shown to readers, stored in dead letters and logged, so secrets are redacted. */
const readable = (text: string): string => redactText(shorten(text, errorTextChars));

/** The claim that was made with the end, if any. */
interface Freed {
  slots?: FreedSlots | undefined;
}

/** A result with its job. */
interface JudgedResult extends CheckedResult {
  deps: SchedulingDeps;
  result: JobResult;
  freed: Freed;
}

/** The same with the writes common to all outcomes. */
interface ResultContext extends JudgedResult {
  /** The guards of the write, and in `set` the fields of the result. */
  extras: MoveExtras & { set: Partial<JobRecord> };
}

/** Returns whether this call moved the job. */
async function writeOutcome(judged: JudgedResult): Promise<boolean> {
  const { deps, job, result, body } = judged;
  const isForeign = await isForeignResult(deps.store, job.id, result.result_ptr);
  const extras = {
    from: withWorker,
    ...(job.dispatch_id && { dispatchId: job.dispatch_id }),
    ...(job.worker_id && { holder: job.worker_id }),
    ...(job.started_at !== undefined && { startedAt: job.started_at }),
    ...(body.inline && { resultBody: body.inline }),
    set: toFields(deps, job, isForeign ? { ...result, result_ptr: '' } : result),
  };
  const ctx = { ...judged, extras };
  const inlineFault = findInlineFault(result);
  if (isForeign && result.status === JobStatus.JOB_STATUS_SUCCEEDED) return fail(ctx, foreignResult);
  if (inlineFault) return fail(ctx, toInlineFailure(inlineFault), withoutPointers(extras.set));
  if (result.status === JobStatus.JOB_STATUS_SUCCEEDED) return succeed(ctx);
  const end = toReportedEnd(result);
  return end ? fail(ctx, end) : failOrRetry(ctx);
}

const foreignResult: Failure = {
  event: 'fail',
  code: 'result_ptr_not_own',
  // Another attempt would fail the same way.
  reported: 'FAILED_FATAL',
  message: 'result_ptr must be redis://res:<job id> or a part of it; the worker named other data of the store',
};

/** Another attempt would send the same. */
const toInlineFailure = (message: string): Failure => ({
  event: 'fail',
  code: 'inline_result_invalid',
  reported: 'FAILED_FATAL',
  message,
});

/** The end of a job that its worker refused or stopped; undefined for failures, which may be retried. */
function toReportedEnd({ status, error_code: code, error_message: text }: JobResult): Failure | undefined {
  switch (status) {
    case JobStatus.JOB_STATUS_CANCELLED:
      return { event: 'cancel', code: code || 'cancelled', message: readable(text) || 'by the worker' };
    case JobStatus.JOB_STATUS_TIMEOUT: {
      const message = readable(text) || 'timeout: reported by the worker';
      return { event: 'timeOut', code: code || 'timeout', message };
    }
    case JobStatus.JOB_STATUS_DENIED:
      return {
        event: 'fail',
        code: 'worker_denied',
        message: readable(text) || 'refused by the worker',
        reported: 'DENIED',
      };
    default:
      return undefined;
  }
}

const toFields = (deps: SchedulingDeps, job: ResultJob, result: JobResult): Partial<JobRecord> => ({
  ...(result.result_ptr && { result_ptr: result.result_ptr }),
  ...(result.artifact_ptrs.length > 0 && { artifact_ptrs: [...result.artifact_ptrs] }),
  execution_ms: Math.max(0, result.execution_ms),
  ...addCost(job, result),
  started_at: job.started_at ?? deps.clock.nowUs(),
});

/** Adds the cost of this attempt to that of the attempts before; values that cannot be a cost are ignored. */
function addCost({ cost = 0 }: Pick<ResultJob, 'cost'>, { cost_usd: usd }: JobResult): Pick<JobRecord, 'cost'> {
  const isCost = usd !== undefined && Number.isFinite(usd) && usd >= 0 && usd <= maxCostUsd;
  return isCost ? { cost: cost + toMicros(usd) } : {};
}

/** Omits the pointers to content that failed its check. */
const withoutPointers = ({ result_ptr: _result, artifact_ptrs: _artifacts, ...facts }: Partial<JobRecord>) => facts;

function withoutBody({ extras: { resultBody: _, ...extras }, ...ctx }: ResultContext): ResultContext {
  return { ...ctx, extras };
}

/** Fields of earlier failures, which a success removes. */
const failureFields = ['waiting_reason', 'error_code', 'error_message', 'error_status', 'last_state'] as const;

async function succeed(ctx: ResultContext): Promise<boolean> {
  const { deps, job, result, body, extras } = ctx;
  const broken = await checkReferences(deps.store, job, result, body.inline);
  if (broken) return fail(withoutBody(ctx), { event: 'fail', ...broken }, withoutPointers(extras.set));
  const check = await checkMetadata(deps, ctx);
  const set: Partial<JobRecord> = { ...extras.set, ...check.set };
  if (check.decision === 'QUARANTINE') return quarantine(ctx, set);
  const content = check.scanBody ? await checkBeforeRelease(ctx, check.hold === true, set) : undefined;
  Object.assign(set, content?.set);
  if (content?.decision === 'QUARANTINE') return quarantine(ctx, set);
  const mismatch = await checkResult(deps, job, body);
  if (mismatch) return fail(ctx, { event: 'fail', ...mismatch }, set);
  const needsScan = check.scanBody && !content;
  const moved = await transitionAndPublish(deps, job, 'succeed', {
    ...(await withClaim(ctx)),
    set,
    unset: failureFields.filter((field) => job[field] !== undefined),
    ...(needsScan && { queueEntries: [scanEntry(job)] }),
  });
  if (moved) deps.events.completed(job.topic, 'SUCCEEDED');
  if (moved && needsScan) deps.scanSoon({ ...job, ...set, state: 'SUCCEEDED' }, result);
  if (moved) await publishOutputEvent(deps, job, set.output_safety);
  return moved;
}

/**
 * Scans the body before the success is written: a small one, which is already read, and any that must be held. Until then the
 * job stays RUNNING and the worker's message unacknowledged. The output of a step is always held: its run passes it on to
 * other steps at once, where a later verdict could not withdraw it.
 *
 * @returns undefined when the background scan has to check it
 */
async function checkBeforeRelease(
  ctx: ResultContext,
  hold: boolean,
  { output_safety: metadata }: Partial<JobRecord>,
): Promise<ContentCheck | undefined> {
  const { deps, job } = ctx;
  const clean = hold ? undefined : await checkSmallBody(deps, ctx);
  if (clean) return { decision: 'ALLOW', set: clean };
  // A result whose first check was skipped is not held.
  const mustHold = hold || (job.run !== undefined && !metadata?.skipped);
  return mustHold ? checkContent(deps, ctx) : undefined;
}

async function quarantine(ctx: ResultContext, set: Partial<JobRecord>): Promise<boolean> {
  const message = set.output_safety?.reason || 'output quarantined';
  const moved = await fail(ctx, { event: 'quarantine', code: 'output_quarantined', message }, set);
  if (moved) await publishOutputEvent(ctx.deps, ctx.job, set.output_safety);
  return moved;
}

interface Failure {
  event: 'fail' | 'timeOut' | 'cancel' | 'quarantine';
  code: string;
  message: string;
  reported?: JobRecord['reported'];
}

async function fail(ctx: ResultContext, failure: Failure, set = ctx.extras.set): Promise<boolean> {
  return failJob(ctx.deps, ctx.job, failure, { ...(await withClaim(ctx)), set });
}

/** The guards and fields of the write, and the claim for the slot that it frees. Call this immediately before the write. */
async function withClaim({ deps, job, freed, extras }: ResultContext): Promise<ResultContext['extras']> {
  if (job.worker_id) freed.slots = await deps.claimWithEnd(job.worker_id);
  return { ...extras, ...(freed.slots && { claim: freed.slots }) };
}

async function failOrRetry(ctx: ResultContext): Promise<boolean> {
  const { deps, job, result } = ctx;
  const status = toFailureStatus(result.status);
  const code = result.error_code || (status === 'FAILED_FATAL' ? 'worker_failed_fatal' : 'worker_failed');
  const message = readable(result.error_message) || jobStatusName(result.status);
  return retryOrFail(deps, job, { status, code, message }, await withClaim(ctx));
}

function toFailureStatus(status: JobStatus): 'FAILED' | 'FAILED_RETRYABLE' | 'FAILED_FATAL' {
  if (status === JobStatus.JOB_STATUS_FAILED_RETRYABLE) return 'FAILED_RETRYABLE';
  return status === JobStatus.JOB_STATUS_FAILED_FATAL ? 'FAILED_FATAL' : 'FAILED';
}

/**
 * Retries a failed dispatch when the failure, the limits and the deadline permit it, else fails the job. The workflow engine
 * retries its steps itself, so their jobs fail here. See docs/reference/jobs.md#retries.
 *
 * @param extras guards of the write, and fields that it sets in both cases
 */
export async function retryOrFail(
  deps: SchedulingDeps,
  job: ResultJob,
  failure: { status: 'FAILED' | 'FAILED_RETRYABLE' | 'FAILED_FATAL'; code: string; message: string },
  extras: MoveExtras,
): Promise<boolean> {
  const { workflow, run } = toWorkflowStep(job);
  const settings = retrySettings(await deps.config.at(toConfigScope(job, 'workflow')));
  const own = timeoutsFor(deps.fleet.timeouts(), job.topic, workflow).maxRetries ?? settings.maxRetries;
  const allowed = Math.min(own, retryCap(job) ?? Infinity);
  const retryable = isRetryable(failure.status, failure.code, settings) && run === undefined;
  if (!retryable) {
    const { code, message, status } = failure;
    const reported = status === 'FAILED_FATAL' ? { reported: status } : {};
    return failJob(deps, job, { event: 'fail', code, message, ...reported }, extras);
  }
  if (job.retry_count >= allowed) {
    const message = `${failure.message} (after ${job.retry_count} retries)`;
    return failJob(deps, job, { event: 'fail', code: 'max_retries_exceeded', message }, extras);
  }
  const delayMs = Math.ceil(backoffMs(settings, job.retry_count + 1, () => deps.random.number()));
  return transitionAndPublish(deps, job, 'retry', {
    ...extras,
    set: {
      ...extras.set,
      retry_count: job.retry_count + 1,
      error_message: failure.message,
      waiting_reason: `retry after ${failure.code}`,
    },
    queueEntries: [
      {
        queue: 'jobs',
        suffix: `retry-${job.retry_count + 1}`,
        delay_ms: delayToDeadline(deps, job, delayMs),
        priority: entryPriority(job),
      },
    ],
  });
}
