import { isOwnResult, isStorePointer, type JobResult, JobStatus, jobStatusName } from '@svc/contract';
import { inFlightStates, type JobState } from '@svc/lifecycle';
import { backoffMs, isRetryable, timeoutsFor } from '@svc/routing';
import { toMicros } from '@svc/policy';
import { redactText } from '@svc/scanning';
import type { JobRecord, MoveExtras } from '@svc/store';
import { isStaleDispatch, toConfigScope, workflowStepOf } from '@svc/decision';
import { endBadly, isForeignResult, moveAndTell } from '@svc/jobs';
import { checkResult } from '@svc/registry';
import {
  type Brought,
  checkContent,
  checkMetadata,
  cleanContent,
  type ContentCheck,
  type MetadataCheck,
  scanEntry,
  tellOutput,
} from '@svc/output-safety';
import { entryPriority, delayToDeadline } from './queue-entry';
import { retryCap } from './place-job';
import { afterPreemption } from './preempt';
import { lacksRequiredDispatch, learnEcho } from './require-dispatch';
import { checkReferences, withPointers } from './result-references';
import { retrySettings } from './retry-settings';
import type { SchedulingDeps } from './scheduling-deps';

/**
 * Records what a worker answered. Only the worker that holds the job, with its current dispatch, is heard; repeats and late
 * answers change nothing. Returns once the end is written, so the message may then be acknowledged.
 * See docs/reference/jobs.md#results.
 */
export async function handleResult(deps: SchedulingDeps, senderId: string, packet: JobResult): Promise<void> {
  if (await lacksRequiredDispatch(deps, 'result', senderId, packet)) return;
  const result = withPointers(packet);
  const bringing = broughtBy(deps, result);
  // What this process gave out is at hand, as it was then, and need not be read: what is written holds only for this very
  // dispatch and worker, while they have the job. When it does not hold, Redis is asked.
  const given = deps.inFlight.find(result.job_id);
  if (given && !whyIgnored(given, senderId, result) && (await settle(deps, given, result, await bringing))) return;
  const [job, brought] = await Promise.all([deps.store.jobs.load(result.job_id), bringing]);
  const refusal = whyIgnored(job, senderId, result);
  if (refusal || !job) {
    deps.events.ignoredResult(result.job_id, refusal ?? 'unknown job');
    // The answer to a job that was taken back: its heartbeats counted it until now, unless its slot was given away at once.
    // Should we count one too few, the slots in Redis still hold. See docs/reference/worker-protocol.md#cancellation.
    if (senderId === result.worker_id && !deps.registry.left(senderId, result.job_id)) free(deps, senderId);
    if (job && senderId === job.worker_id) await afterPreemption(deps, job, result.dispatch);
    return;
  }
  await settle(deps, job, result, brought);
}

/** Writes the answer, and gives the worker's slot to somebody else. Returns whether it was this answer that did it. */
async function settle(deps: SchedulingDeps, job: Held, result: JobResult, brought: Brought): Promise<boolean> {
  if (!(await record(deps, job, result, brought))) return false;
  deps.inFlight.forget(job.id);
  if (job.worker_id) free(deps, job.worker_id);
  await learnEcho(deps, result.worker_id, result.dispatch);
  return true;
}

/** Bodies up to this size are scanned while the end is being written. */
const smallBytes = 64 * 1_024;

const noBody: Brought = { sizeBytes: 0, hasBody: false };

/** Of what a success brings, for the checks of it. */
async function broughtBy({ store, settings }: SchedulingDeps, result: JobResult): Promise<Brought> {
  const isChecked = settings.outputPolicyEnabled && result.status === JobStatus.JOB_STATUS_SUCCEEDED;
  const { job_id: id, result_ptr: pointer } = result;
  if (!isChecked || pointer === '' || (isStorePointer(pointer) && !isOwnResult(id, pointer))) return noBody;
  // A result in another store cannot be read: the second phase treats it as one that could not be scanned.
  if (!isStorePointer(pointer)) return { sizeBytes: 0, hasBody: true };
  const found = await store.data.read(result.result_ptr, smallBytes);
  // A worker may say that it is done a moment before its result can be seen: the background scan waits for it.
  if (!found) return { sizeBytes: 0, hasBody: true };
  const { body, sizeBytes } = found;
  return { sizeBytes, hasBody: sizeBytes > 0, ...(body.length === sizeBytes && { body }) };
}

function free({ registry, wake }: SchedulingDeps, workerId: string): void {
  registry.moved(workerId, -1);
  wake(workerId);
}

/** States in which a worker has the job, or may have it. */
const withWorker: readonly JobState[] = [...inFlightStates, 'SCHEDULED'];

/** Why a result counts for nothing; undefined when it counts. See docs/reference/worker-protocol.md#fencing. */
function whyIgnored(job: JobRecord | undefined, senderId: string, result: JobResult): string | undefined {
  if (!job) return 'unknown job';
  if (!withWorker.includes(job.state)) return `job is ${job.state}`;
  if (job.worker_id !== result.worker_id || senderId !== result.worker_id) return 'not the worker that holds it';
  if (isStaleDispatch(result.dispatch, job)) return 'stale dispatch';
  const { tenant_id: tenant = '' } = result.identity ?? {};
  if (tenant !== '' && tenant !== job.tenant) return 'identity of another tenant';
  return undefined;
}

type Held = JobRecord & { worker_id?: string };

const errorTextChars = 2_000;
/** More is taken for a mistake. */
const mostCostUsd = 1_000_000;

/** A worker's error text is shown to readers, kept in dead letters and logged: what looks like a secret is cut out. */
const readable = (text: string): string => redactText(text.slice(0, errorTextChars));

/** Returns whether the job left the worker's hands by this call. */
async function record(deps: SchedulingDeps, job: Held, result: JobResult, brought: Brought): Promise<boolean> {
  const before = {
    from: withWorker,
    ...(job.dispatch_id && { dispatchId: job.dispatch_id }),
    ...(job.worker_id && { holder: job.worker_id }),
  };
  const isForeign = await isForeignResult(deps.store, job.id, result.result_ptr);
  const facts = factsOf(deps, job, isForeign ? { ...result, result_ptr: '' } : result);
  const isSuccess = result.status === JobStatus.JOB_STATUS_SUCCEEDED;
  if (isSuccess && isForeign) return fail(deps, job, foreignResult, before, facts);
  if (isSuccess) return succeed(deps, job, result, brought, before, facts);
  const end = reportedEnd(result);
  return end ? fail(deps, job, end, before, facts) : failOrRetry(deps, job, result, before, facts);
}

const foreignResult: Failure = {
  event: 'fail',
  code: 'result_ptr_not_own',
  // Another attempt of a step would end the same way.
  reported: 'FAILED_FATAL',
  message: 'result_ptr must be redis://res:<job id> or a part of it; the worker named other data of the store',
};

/** How the job ends when its worker did not do it and it is not tried again; undefined for failures, which may be. */
function reportedEnd({ status, error_code: code, error_message: text }: JobResult): Failure | undefined {
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

const factsOf = (deps: SchedulingDeps, job: Held, result: JobResult): Partial<JobRecord> => ({
  ...(result.result_ptr && { result_ptr: result.result_ptr }),
  ...(result.artifact_ptrs.length > 0 && { artifact_ptrs: [...result.artifact_ptrs] }),
  execution_ms: Math.max(0, result.execution_ms),
  ...costOf(job, result),
  // The answer may have overtaken the note that it runs.
  started_at: job.started_at ?? deps.clock.nowUs(),
});

/** All attempts of a job cost something. What cannot be a cost counts as nothing said. */
function costOf({ cost = 0 }: Held, { cost_usd: told }: JobResult): Pick<JobRecord, 'cost'> {
  const isCost = told !== undefined && Number.isFinite(told) && told >= 0 && told <= mostCostUsd;
  return isCost ? { cost: cost + toMicros(told) } : {};
}

/** Content that failed its check is not offered to readers. */
const withoutPointers = ({ result_ptr: _result, artifact_ptrs: _artifacts, ...facts }: Partial<JobRecord>) => facts;

/** What failed on the way to a success. */
const history = ['waiting_reason', 'error_code', 'error_message', 'error_status', 'last_state'] as const;

async function succeed(
  deps: SchedulingDeps,
  job: Held,
  result: JobResult,
  brought: Brought,
  before: MoveExtras,
  facts: Partial<JobRecord>,
): Promise<boolean> {
  const broken = await checkReferences(deps.store, job, result);
  if (broken) return fail(deps, job, { event: 'fail', ...broken }, before, withoutPointers(facts));
  const check = await checkMetadata(deps, job, result, brought);
  const set: Partial<JobRecord> = { ...facts, ...check.set };
  if (check.decision === 'QUARANTINE') return quarantine(deps, job, before, set);
  const looked = check.scanBody ? await lookInside(deps, job, result, brought, check) : undefined;
  Object.assign(set, looked?.set);
  if (looked?.decision === 'QUARANTINE') return quarantine(deps, job, before, set);
  const misfit = await checkResult(deps, job, result.result_ptr);
  if (misfit) return fail(deps, job, { event: 'fail', ...misfit }, before, set);
  const scans = check.scanBody && !looked;
  const moved = await moveAndTell(deps, job, 'succeed', {
    ...before,
    set,
    unset: history.filter((field) => job[field] !== undefined),
    ...(scans && { carry: [scanEntry(job)] }),
  });
  if (moved) deps.events.completed(job.topic, 'SUCCEEDED');
  if (moved && scans) deps.scanSoon({ ...job, ...set, state: 'SUCCEEDED' }, result);
  if (moved) await tellOutput(deps, job, set.output_safety);
  return moved;
}

/**
 * Looks into the body before the end is written: into one that is at hand, since that costs nothing, and into any that is to
 * be held back until then. The job stays RUNNING meanwhile, and the worker's message unacknowledged. A step's output is held
 * too: its run reads it at once, keeps it and hands it on to other steps, where no later verdict would reach it.
 *
 * @returns undefined: the background scan has to look
 */
async function lookInside(
  deps: SchedulingDeps,
  job: Held,
  result: JobResult,
  { body }: Brought,
  { hold, set: { output_safety: checked } }: MetadataCheck,
): Promise<ContentCheck | undefined> {
  const clean = body && !hold ? await cleanContent(deps, job, result, body) : undefined;
  if (clean) return { decision: 'ALLOW', set: clean };
  // Where the first check was not made, nothing is held back.
  const mustHold = hold === true || (job.run !== undefined && !checked?.skipped);
  return mustHold ? checkContent(deps, job, result) : undefined;
}

async function quarantine(
  deps: SchedulingDeps,
  job: Held,
  before: MoveExtras,
  set: Partial<JobRecord>,
): Promise<boolean> {
  const message = set.output_safety?.reason || 'output quarantined';
  const moved = await fail(deps, job, { event: 'quarantine', code: 'output_quarantined', message }, before, set);
  if (moved) await tellOutput(deps, job, set.output_safety);
  return moved;
}

interface Failure {
  event: 'fail' | 'timeOut' | 'cancel' | 'quarantine';
  code: string;
  message: string;
  reported?: JobRecord['reported'];
}

async function fail(
  deps: SchedulingDeps,
  job: Held,
  failure: Failure,
  before: MoveExtras,
  facts: Partial<JobRecord>,
): Promise<boolean> {
  return endBadly(deps, job, failure, { ...before, set: facts });
}

async function failOrRetry(
  deps: SchedulingDeps,
  job: Held,
  result: JobResult,
  before: MoveExtras,
  facts: Partial<JobRecord>,
): Promise<boolean> {
  const status = statusWord(result.status);
  const code = result.error_code || (status === 'FAILED_FATAL' ? 'worker_failed_fatal' : 'worker_failed');
  const message = readable(result.error_message) || jobStatusName(result.status);
  return retryOr(deps, job, { status, code, message }, before, facts);
}

function statusWord(status: JobStatus): 'FAILED' | 'FAILED_RETRYABLE' | 'FAILED_FATAL' {
  if (status === JobStatus.JOB_STATUS_FAILED_RETRYABLE) return 'FAILED_RETRYABLE';
  return status === JobStatus.JOB_STATUS_FAILED_FATAL ? 'FAILED_FATAL' : 'FAILED';
}

/**
 * Tries a failed dispatch again when the failure, the limits and the deadline allow, else ends the job. Steps of workflows
 * are not retried here; the workflow engine owns their retries. See docs/reference/jobs.md#retries.
 */
export async function retryOr(
  deps: SchedulingDeps,
  job: Held,
  failure: { status: 'FAILED' | 'FAILED_RETRYABLE' | 'FAILED_FATAL'; code: string; message: string },
  before: MoveExtras,
  facts: Partial<JobRecord> = {},
): Promise<boolean> {
  const { workflow, run } = workflowStepOf(job);
  const settings = retrySettings(await deps.config.at(toConfigScope(job, 'workflow')));
  const own = timeoutsFor(deps.fleet.timeouts(), job.topic, workflow).maxRetries ?? settings.maxRetries;
  const allowed = Math.min(own, retryCap(job) ?? Infinity);
  const retryable = isRetryable(failure.status, failure.code, settings) && run === undefined;
  if (!retryable) {
    const { code, message, status } = failure;
    const reported = status === 'FAILED_FATAL' ? { reported: status } : {};
    return fail(deps, job, { event: 'fail', code, message, ...reported }, before, facts);
  }
  if (job.retry_count >= allowed) {
    const message = `${failure.message} (after ${job.retry_count} retries)`;
    return fail(deps, job, { event: 'fail', code: 'max_retries_exceeded', message }, before, facts);
  }
  const delayMs = Math.ceil(backoffMs(settings, job.retry_count + 1, () => deps.random.number()));
  return moveAndTell(deps, job, 'retry', {
    ...before,
    set: {
      ...facts,
      retry_count: job.retry_count + 1,
      error_message: failure.message,
      waiting_reason: `retry after ${failure.code}`,
    },
    carry: [
      {
        queue: 'jobs',
        suffix: `retry-${job.retry_count + 1}`,
        delay_ms: delayToDeadline(deps, job, delayMs),
        priority: entryPriority(job),
      },
    ],
  });
}
