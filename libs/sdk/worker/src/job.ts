import { readDispatch, type JobCancel, type JobRequest, type JobResultDraft } from '@svc/contract';
import type { Abort } from './abort';
import { FatalError, RetryableError } from './errors';
import type { ArtifactOptions, Job, JobConstraints } from './types';

export interface JobPowers {
  abort: Pick<Abort, 'signal' | 'throwIfAborted'>;
  deadline: Date | undefined;
  progress: Job['progress'];
  cost: Job['cost'];
  log: Job['log'];
  stream: Job['stream'];
  effect: Job['effect'];
  writeArtifact(bytes: Uint8Array, options: ArtifactOptions): Promise<string>;
}

/** Identity of a dispatch, which results and repeats are matched by. */
export interface DispatchIdentity {
  jobId: string;
  dispatchId: string;
  attempt: number;
}

/** Identity in a request; empty with attempt 0 when the scheduler sends none. */
export function getIdentity(request: JobRequest): DispatchIdentity {
  const { dispatch_id: dispatchId, attempt } = readDispatch(request);
  return { jobId: request.job_id, dispatchId, attempt };
}

/** Pointer of the input document; '' without one. */
export const getContextPointer = ({ context_ptr: pointer, context_ref: ref }: JobRequest): string =>
  pointer || (ref?.uri ?? '');

/** Fields of the request that results and progress echo, so that those of an earlier dispatch can be rejected. */
export function buildEcho(request: JobRequest): Pick<JobResultDraft, 'dispatch' | 'identity'> {
  const dispatch = readDispatch(request);
  const isNamed = dispatch.dispatch_id !== '' || dispatch.attempt > 0;
  return { ...(isNamed && { dispatch }), identity: request.identity };
}

/**
 * Whether a cancel stops this run. A cancel with a dispatch id stops that dispatch and older ones, never a newer one.
 * See docs/reference/worker-protocol.md#fencing.
 */
export function isCancelled(run: DispatchIdentity, { job_id, dispatch }: JobCancel): boolean {
  if (run.jobId !== job_id) return false;
  if (!dispatch?.dispatch_id || run.dispatchId === '') return true;
  return run.dispatchId === dispatch.dispatch_id || run.attempt < dispatch.attempt;
}

/**
 * Builds the job passed to a handler.
 *
 * @param input the parsed document of the job's context pointer
 * @throws RetryableError when the job's constraints are invalid
 */
export function buildJob(
  request: JobRequest,
  { jobId, dispatchId, attempt }: DispatchIdentity,
  traceId: string,
  input: unknown,
  powers: JobPowers,
): Job {
  const { abort, deadline, progress, cost, log, stream, effect } = powers;
  const document = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
  const prompt = document['prompt'];
  return {
    jobId,
    dispatchId,
    attempt,
    topic: request.topic,
    tenant: request.tenant_id,
    traceId,
    input,
    contextPtr: getContextPointer(request),
    prompt: typeof prompt === 'string' ? prompt : '',
    context: document['context'] ?? input,
    env: request.env,
    labels: request.labels,
    constraints: readConstraints(request.env['SVC_POLICY_CONSTRAINTS']),
    isDryRun: request.env['dry_run'] === 'true',
    deadline,
    get signal() {
      return abort.signal;
    },
    adapterId: request.adapter_id,
    memoryId: request.memory_id,
    parentJobId: request.parent_job_id,
    workflowId: request.workflow_id,
    principalId: request.principal_id,
    progress,
    cost,
    log,
    stream,
    effect,
    async saveArtifact(bytes, options = {}) {
      const maxBytes = Number(request.env['SVC_MAX_ARTIFACT_BYTES']) || Infinity;
      if (bytes.length > maxBytes) {
        throw new FatalError(`artifact of ${bytes.length} bytes, allowed are ${maxBytes}`, {
          code: 'artifact_too_large',
        });
      }
      abort.throwIfAborted();
      return powers.writeArtifact(bytes, options);
    },
  };
}

/** An unreadable limit must not be treated as no limit. */
function readConstraints(text: string | undefined): JobConstraints {
  if (!text) return {};
  try {
    return JSON.parse(text) as JobConstraints;
  } catch (cause) {
    throw new RetryableError('the constraints of this job cannot be read', { code: 'constraints_unreadable', cause });
  }
}
