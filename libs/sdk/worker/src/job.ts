import { dispatchOf, type JobCancel, type JobRequest, type JobResultDraft } from '@svc/contract';
import { FatalError, RetryableError } from './errors';
import type { ArtifactOptions, Job, JobConstraints } from './types';

export interface JobPowers {
  signal: AbortSignal;
  deadline: Date | undefined;
  progress: Job['progress'];
  cost: Job['cost'];
  writeArtifact(bytes: Uint8Array, options: ArtifactOptions): Promise<string>;
}

/** What names one dispatch: results and repeats are matched by it. */
export interface DispatchIdentity {
  jobId: string;
  dispatchId: string;
  attempt: number;
}

/** Read from a request; a scheduler that does not name the dispatch leaves it empty and the attempt 0. */
export function identityOf(request: JobRequest): DispatchIdentity {
  const { dispatch_id: dispatchId, attempt } = dispatchOf(request);
  return { jobId: request.job_id, dispatchId, attempt };
}

/** Where the input document is; '' when the job has none. */
export const contextPointerOf = ({ context_ptr: pointer, context_ref: ref }: JobRequest): string =>
  pointer || (ref?.uri ?? '');

/** What results and progress repeat of their request, so that those of an earlier dispatch are told apart. */
export function echoOf(request: JobRequest): Pick<JobResultDraft, 'dispatch' | 'identity'> {
  const dispatch = dispatchOf(request);
  const isNamed = dispatch.dispatch_id !== '' || dispatch.attempt > 0;
  return { ...(isNamed && { dispatch }), identity: request.identity };
}

/**
 * Does a cancel stop this run? One that names a dispatch stops that one and older ones of the job, never a newer one.
 * See docs/reference/worker-protocol.md#fencing.
 */
export function isCancelled(run: DispatchIdentity, { job_id, dispatch }: JobCancel): boolean {
  if (run.jobId !== job_id) return false;
  if (!dispatch?.dispatch_id || run.dispatchId === '') return true;
  return run.dispatchId === dispatch.dispatch_id || run.attempt < dispatch.attempt;
}

/**
 * What a handler sees of its job.
 *
 * @param input the document the job's context pointer led to, parsed
 * @throws RetryableError when the job's constraints cannot be read
 */
export function buildJob(request: JobRequest, traceId: string, input: unknown, powers: JobPowers): Job {
  const { signal, deadline, progress, cost } = powers;
  const document = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
  const prompt = document['prompt'];
  return {
    ...identityOf(request),
    topic: request.topic,
    tenant: request.tenant_id,
    traceId,
    input,
    contextPtr: contextPointerOf(request),
    prompt: typeof prompt === 'string' ? prompt : '',
    context: document['context'] ?? input,
    env: request.env,
    labels: request.labels,
    constraints: readConstraints(request.env['SVC_POLICY_CONSTRAINTS']),
    isDryRun: request.env['dry_run'] === 'true',
    deadline,
    signal,
    adapterId: request.adapter_id,
    memoryId: request.memory_id,
    parentJobId: request.parent_job_id,
    workflowId: request.workflow_id,
    principalId: request.principal_id,
    progress,
    cost,
    async saveArtifact(bytes, options = {}) {
      const maxBytes = Number(request.env['SVC_MAX_ARTIFACT_BYTES']) || Infinity;
      if (bytes.length > maxBytes) {
        throw new FatalError(`artifact of ${bytes.length} bytes, allowed are ${maxBytes}`, {
          code: 'artifact_too_large',
        });
      }
      signal.throwIfAborted();
      return powers.writeArtifact(bytes, options);
    },
  };
}

/** A limit that cannot be read must not be taken for no limit. */
function readConstraints(text: string | undefined): JobConstraints {
  if (!text) return {};
  try {
    return JSON.parse(text) as JobConstraints;
  } catch (cause) {
    throw new RetryableError('the constraints of this job cannot be read', { code: 'constraints_unreadable', cause });
  }
}
