import { backoffMs, queuePriorities } from '@svc/routing';
import type { Base } from '@svc/platform';
import type { JobRecord } from '@svc/store';
import { retrySettings } from './retry-settings';
import type { SchedulingEvents } from './scheduling-deps';
import type { WorkerRegistry } from './worker-registry';

export interface RollBackDeps extends Base {
  registry: Pick<WorkerRegistry, 'adjustActive'>;
  events: Pick<SchedulingEvents, 'rolledBack'>;
}

/**
 * Reverts a dispatch that could not be published: frees the worker's slot and requeues the job with a delay.
 * See docs/reference/jobs.md#states.
 */
export async function rollBack(
  deps: RollBackDeps,
  job: JobRecord & { dispatch_id: string; worker_id: string },
  error: unknown,
): Promise<void> {
  const delayMs = backoffMs(retrySettings(undefined), Math.max(1, job.attempts), () => deps.random.number());
  const leftMs = job.deadline_ms > 0 ? Math.max(1, job.deadline_ms - deps.clock.nowMs()) : Infinity;
  const outcome = await deps.store.jobs.move('*', job.id, 'rollBack', {
    dispatchId: job.dispatch_id,
    set: { waiting_reason: 'dispatch_failed' },
    queueEntries: [
      {
        queue: 'jobs',
        // The attempt alone is not unique: the entry in progress may have the same id.
        suffix: `undelivered-${job.attempts}-${deps.clock.nowMs()}`,
        delay_ms: Math.ceil(Math.min(delayMs, leftMs)),
        priority: queuePriorities[job.request.priority],
      },
    ],
  });
  if (outcome.kind !== 'moved') return;
  deps.registry.adjustActive(job.worker_id, -1);
  deps.events.rolledBack(job.topic, error);
}
