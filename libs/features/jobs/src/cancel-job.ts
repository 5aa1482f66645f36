import { AppError, everyTenant, type TenantScope } from '@svc/contract';
import type { JobState } from '@svc/lifecycle';
import type { Base, JobBus } from '@svc/platform';
import type { Intent } from './job-failure';
import { publishIntent } from './publish-intent';

export interface CancelDeps extends Base {
  bus: JobBus;
  senderId: string;
  /** A publish failed; the intent stays in the record and the replayer publishes it later. */
  onPublishFailed(jobId: string, error: unknown): void;
}

/**
 * Cancels a job for REST, gRPC and the engine alike. See docs/reference/jobs.md#cancellation.
 *
 * @returns the state the job is in now, and whether this call put it there
 * @throws job_not_found, tenant_access_denied
 */
export async function cancelJob(
  deps: CancelDeps,
  scope: TenantScope,
  id: string,
  reason = 'cancelled via api',
): Promise<{ state: JobState; changed: boolean }> {
  const { store } = deps;
  const intent: Intent = { result: 'CANCELLED', cancel: reason };
  const outcome = await store.jobs.move(scope, id, 'cancel', {
    unset: ['waiting_reason'],
    intent: JSON.stringify(intent),
  });
  switch (outcome.kind) {
    case 'missing':
      throw new AppError('job_not_found');
    case 'other_tenant':
      throw new AppError('tenant_access_denied');
    case 'refused':
      return { state: outcome.state, changed: false };
    case 'stale':
    case 'changed':
      throw new Error(`a cancel has no guard, yet it met one: ${outcome.kind}`);
    case 'moved':
      break;
  }
  // The record is the source of truth and holds the intent, so the caller does not wait for the bus. After a crash or
  // while NATS is unreachable, the replayer publishes the intent.
  void publishCancel(deps, id);
  return { state: outcome.state, changed: true };
}

/** Cancels a job of any tenant for a process. @returns false when it had ended, or there is none */
export async function cancelOpenJob(deps: CancelDeps, id: string, reason: string): Promise<boolean> {
  try {
    return (await cancelJob(deps, everyTenant, id, reason)).changed;
  } catch (error) {
    if (error instanceof AppError && error.errorCode === 'job_not_found') return false;
    throw error;
  }
}

async function publishCancel(deps: CancelDeps, id: string): Promise<void> {
  try {
    const job = await deps.store.jobs.load(id);
    if (job) await publishIntent(deps, job);
  } catch (error) {
    deps.onPublishFailed(id, error);
  }
}
