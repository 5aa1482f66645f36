import { type PlacementEvents, poolTopicLabel, reasonLabel } from '@svc/dispatch';
import type { PoolTable } from '@svc/routing';
import type { dispatchMetrics, Handles } from '@svc/runtime';

/** Records the placement of new jobs as metrics. Topics without a pool are labelled `other`. */
export function placementEvents(metrics: Handles<typeof dispatchMetrics>, pools: () => PoolTable): PlacementEvents {
  const topicOf = poolTopicLabel(pools);
  return {
    received: (topic) => metrics.jobsReceived.inc(topicOf(topic)),
    waiting: (_, reason) => metrics.routingFailures.inc({ reason: reasonLabel(reason) }),
  };
}
