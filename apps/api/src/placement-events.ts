import { type PlacementDeps, poolTopicLabel, reasonLabel } from '@svc/dispatch';
import type { PoolTable } from '@svc/routing';
import type { dispatchMetrics, Handles, Logger } from '@svc/runtime';

/** Records the placement of new jobs as metrics and log lines. Topics without a pool are labelled `other`. */
export function placementEvents(
  metrics: Handles<typeof dispatchMetrics>,
  log: Logger,
  pools: () => PoolTable,
): PlacementDeps['events'] {
  const topicOf = poolTopicLabel(pools);
  return {
    received: (topic) => metrics.jobsReceived.inc(topicOf(topic)),
    waiting: (_, reason) => metrics.routingFailures.inc({ reason: reasonLabel(reason) }),
    dispatched: (topic, waitedMs) => {
      metrics.jobsDispatched.inc(topicOf(topic));
      metrics.dispatchSeconds.observe(topicOf(topic), waitedMs / 1_000);
    },
    rolledBack: (topic, error) => {
      metrics.dispatchRollback.inc(topicOf(topic));
      log.warn('publishing a dispatch failed', { topic, error });
    },
    placementFailed: (jobId, error) =>
      log.oncePer('placement', 10_000).warn('a step after accepting a job failed; the reconciler repeats it', {
        job_id: jobId,
        error,
      }),
  };
}
