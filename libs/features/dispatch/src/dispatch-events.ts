import type { dispatchMetrics, Handles, Logger } from '@svc/runtime';
import type { SchedulingEvents } from './scheduling-deps';
import type { poolTopicLabel } from './topic-label';

/** Records dispatches as metrics and log lines, alike in each process that dispatches. */
export function dispatchEvents(
  metrics: Handles<typeof dispatchMetrics>,
  log: Logger,
  toTopicLabel: ReturnType<typeof poolTopicLabel>,
): Pick<SchedulingEvents, 'received' | 'dispatched' | 'rolledBack' | 'startFailed' | 'cancelledByLimit'> {
  return {
    received: (topic) => metrics.jobsReceived.inc(toTopicLabel(topic)),
    dispatched: (topic, waitedMs) => {
      metrics.jobsDispatched.inc(toTopicLabel(topic));
      metrics.dispatchSeconds.observe(toTopicLabel(topic), waitedMs / 1_000);
    },
    rolledBack: (topic, error) => {
      metrics.dispatchRollback.inc(toTopicLabel(topic));
      log.warn('publishing a dispatch failed', { topic, error });
    },
    cancelledByLimit: (limit) => metrics.cancelledByLimits.inc({ limit }),
    startFailed: (jobId, error) =>
      log.oncePer('start', 10_000).warn('recording the start of a job failed; the reconciler repeats it', {
        job_id: jobId,
        error,
      }),
  };
}
