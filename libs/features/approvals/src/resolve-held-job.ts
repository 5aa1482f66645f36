import { AppError, isGate, type TenantScope } from '@svc/contract';
import { isRunEnded } from '@svc/lifecycle';
import { queuePriorities } from '@svc/routing';
import type { ApprovalRecord, JobRecord, MoveExtras, Store } from '@svc/store';
import type { Base, JobBus } from '@svc/platform';
import { failureWrites, type JobFailure, publishIntent } from '@svc/jobs';

/** Dependencies for releasing or ending a held job. */
export interface ResolveDeps extends Base {
  bus: JobBus;
  senderId: string;
  settings: { deadLetterTtlSec: number };
  /** A publish failed; the replayer will retry it from the stored intent. */
  onPublishFailed(jobId: string, error: unknown): void;
}

/** Transition of a held job, written atomically with its approval, run event and audit entry. */
export interface HoldResolution {
  event: 'release' | 'succeed' | 'deny';
  approval: ApprovalRecord;
  /** Error of a job that ends DENIED. */
  failure?: Pick<JobFailure, 'code' | 'message'>;
  /** Event for the run of a gate (JSON). */
  post?: string;
  /** Entry for the policy audit of the job's tenant (JSON). */
  audit?: string;
}

/** `lost`: another caller resolved or changed the approval first. */
export type HoldOutcome = { kind: 'resolved'; job: JobRecord; isPublished: boolean } | { kind: 'lost' };

/**
 * A gate is never routed: its approval is its success. Any other job goes back to the queue.
 * See docs/reference/jobs.md#states.
 */
export const approvingEvent = ({ topic }: Pick<JobRecord, 'topic'>): 'release' | 'succeed' =>
  isGate(topic) ? 'succeed' : 'release';

/**
 * Resolves a held job, guarded by its state and the approval as it was read: exactly one of several concurrent callers
 * succeeds. After a crash between the write and the publish, the replayer publishes the stored intent.
 *
 * @throws approval_not_found, approval_forbidden
 */
export async function resolveHeldJob(
  deps: ResolveDeps,
  scope: TenantScope,
  job: JobRecord,
  resolution: HoldResolution,
): Promise<HoldOutcome> {
  const { store } = deps;
  const outcome = await store.jobs.move(scope, job.id, resolution.event, {
    ...toMoveExtras(deps, job, resolution),
    from: ['APPROVAL_REQUIRED'],
    guard: { approval: JSON.stringify(job.approval) },
    ...(resolution.post && { post: resolution.post }),
    ...(resolution.audit && { audit: resolution.audit }),
  });
  if (outcome.kind === 'other_tenant') throw new AppError('approval_forbidden');
  if (outcome.kind === 'missing') throw new AppError('approval_not_found');
  if (outcome.kind !== 'moved') return { kind: 'lost' };
  const after = (await store.jobs.load(job.id)) ?? job;
  const isPublished = await publishPending(deps, after);
  if (isPublished) delete after.intent;
  return { kind: 'resolved', job: after, isPublished };
}

function toMoveExtras(deps: ResolveDeps, job: JobRecord, { event, approval, failure }: HoldResolution): MoveExtras {
  const { clock, settings } = deps;
  switch (event) {
    case 'release': {
      const suffix = `approved-${approval.revision}`;
      return {
        set: { approval },
        queueEntries: [{ queue: 'jobs', suffix, priority: queuePriorities[job.request.priority] }],
      };
    }
    case 'succeed':
      return { set: { approval }, intent: JSON.stringify({ result: 'SUCCEEDED' }) };
    case 'deny': {
      const { code, message } = failure ?? { code: 'approval_rejected', message: 'approval rejected' };
      const ending = { event, code, message, result: 'DENIED' } as const;
      const extras = failureWrites(job, ending, clock.nowUs(), settings.deadLetterTtlSec);
      return { ...extras, set: { ...extras.set, approval } };
    }
  }
}

/** Publishes the job's pending intent; returns whether it succeeded. */
export async function publishPending(deps: ResolveDeps, job: JobRecord): Promise<boolean> {
  try {
    await publishIntent(deps, job);
    return true;
  } catch (error) {
    deps.onPublishFailed(job.id, error);
    return false;
  }
}

/** Whether the run of a job has ended; a missing record means that it ended long ago. */
export async function isRunOver({ store }: { store: Pick<Store, 'runs'> }, { run: id }: JobRecord): Promise<boolean> {
  if (!id) return false;
  const run = await store.runs.header(id);
  return run === undefined || isRunEnded(run.status);
}
