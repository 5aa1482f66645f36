import type { PoolTable } from '@svc/routing';
import type { dispatchMetrics, Handles, Logger } from '@svc/runtime';
import { dispatchEvents } from './dispatch-events';
import type { PlacementDeps } from './place-new-job';
import { reasonLabel } from './repair';
import { poolTopicLabel } from './topic-label';

/** Records the placement of new jobs as metrics and log lines. Topics without a pool are labelled `other`. */
export function placementEvents(
  metrics: Handles<typeof dispatchMetrics>,
  log: Logger,
  pools: () => PoolTable,
): PlacementDeps['events'] {
  return {
    ...dispatchEvents(metrics, log, poolTopicLabel(pools)),
    waiting: (_, reason) => metrics.routingFailures.inc({ reason: reasonLabel(reason) }),
    placementFailed: (jobId, error) =>
      log.oncePer('placement', 10_000).warn('a step after accepting a job failed; the reconciler repeats it', {
        job_id: jobId,
        error,
      }),
  };
}
