import { AppError, isGate, type TenantScope } from '@svc/contract';
import { isRunEnded } from '@svc/lifecycle';
import { queuePriorities } from '@svc/routing';
import type { ApprovalRecord, JobRecord, MoveExtras, Store } from '@svc/store';
import type { Base, JobBus } from '@svc/platform';
import { badEnd, type Ending, publishIntent } from '@svc/jobs';

/** What ending or releasing a held job takes. */
export interface SettleDeps extends Base {
  bus: JobBus;
  senderId: string;
  settings: { deadLetterTtlSec: number };
  /** A publish failed; the intent stays for the replayer. */
  onPublishFailed(jobId: string, error: unknown): void;
}

/** A held job's way on, in one write: with it goes what its approval becomes and what its run hears. */
export interface Settlement {
  event: 'release' | 'succeed' | 'deny';
  approval: ApprovalRecord;
  /** Why, for a job that ends badly. */
  ending?: Pick<Ending, 'code' | 'message'>;
  /** For the run of a gate (JSON). */
  post?: string;
  /** For the policy audit of the job's tenant (JSON). */
  audit?: string;
}

export type Settled = { kind: 'settled'; job: JobRecord; isPublished: boolean } | { kind: 'lost' };

/**
 * A gate is never routed: its approval is its success. Any other job goes back to the queue.
 * See docs/reference/jobs.md#states.
 */
export const approvingEvent = ({ topic }: Pick<JobRecord, 'topic'>): 'release' | 'succeed' =>
  isGate(topic) ? 'succeed' : 'release';

/**
 * Takes a job out of its hold, if it is still held and its approval is as it was read: of any number of callers at once
 * one settles it, the others have lost. If we die between the write and the publish, the replayer says what the record
 * keeps to say.
 *
 * @throws approval_not_found, approval_forbidden
 */
export async function settle(
  deps: SettleDeps,
  scope: TenantScope,
  job: JobRecord,
  settlement: Settlement,
): Promise<Settled> {
  const { store } = deps;
  const outcome = await store.jobs.move(scope, job.id, settlement.event, {
    ...extrasOf(deps, job, settlement),
    from: ['APPROVAL_REQUIRED'],
    guard: { approval: JSON.stringify(job.approval) },
    ...(settlement.post && { post: settlement.post }),
    ...(settlement.audit && { audit: settlement.audit }),
  });
  if (outcome.kind === 'other_tenant') throw new AppError('approval_forbidden');
  if (outcome.kind === 'missing') throw new AppError('approval_not_found');
  if (outcome.kind !== 'moved') return { kind: 'lost' };
  const after = (await store.jobs.load(job.id)) ?? job;
  const isPublished = await tell(deps, after);
  if (isPublished) delete after.intent;
  return { kind: 'settled', job: after, isPublished };
}

function extrasOf(deps: SettleDeps, job: JobRecord, { event, approval, ending }: Settlement): MoveExtras {
  const { clock, settings } = deps;
  switch (event) {
    case 'release': {
      const suffix = `approved-${approval.revision}`;
      return { set: { approval }, carry: [{ queue: 'jobs', suffix, priority: queuePriorities[job.request.priority] }] };
    }
    case 'succeed':
      return { set: { approval }, intent: JSON.stringify({ result: 'SUCCEEDED' }) };
    case 'deny': {
      const { code, message } = ending ?? { code: 'approval_rejected', message: 'approval rejected' };
      const bad = { event, code, message, result: 'DENIED' } as const;
      const extras = badEnd(job, bad, clock.nowUs(), settings.deadLetterTtlSec);
      return { ...extras, set: { ...extras.set, approval } };
    }
  }
}

/** Says what the record has to say; returns whether all of it is said. */
export async function tell(deps: SettleDeps, job: JobRecord): Promise<boolean> {
  try {
    await publishIntent(deps, job);
    return true;
  } catch (error) {
    deps.onPublishFailed(job.id, error);
    return false;
  }
}

/** Whether the run that a job belongs to has ended; one whose record is gone ended long ago. */
export async function isRunOver({ store }: { store: Pick<Store, 'runs'> }, { run: id }: JobRecord): Promise<boolean> {
  if (!id) return false;
  const run = await store.runs.header(id);
  return run === undefined || isRunEnded(run.status);
}
