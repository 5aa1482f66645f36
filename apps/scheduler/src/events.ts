import type { approvalMetrics, Logger, OpenMetrics, schedulerMetrics } from '@svc/runtime';
import { topicLabel } from '@svc/runtime';
import { reasonLabel, type SchedulingEvents } from '@svc/dispatch';
import type { PoolTable } from '@svc/routing';

type SchedulerMetrics = OpenMetrics<typeof schedulerMetrics & typeof approvalMetrics>['metrics'];

/** Turns what happens into metrics and log lines. Topics that no pool file names are counted as `other`. */
export function schedulingEvents(metrics: SchedulerMetrics, log: Logger, pools: () => PoolTable): SchedulingEvents {
  const label = topicLabel();
  let known: PoolTable | undefined;
  const topicOf = (name: string) => {
    const table = pools();
    if (table !== known) {
      known = table;
      label.know(Object.keys(table.topics));
    }
    return { topic: label.of(name) };
  };
  return {
    received: (topic) => metrics.jobsReceived.inc(topicOf(topic)),
    denied: (topic) => metrics.safetyDenied.inc(topicOf(topic)),
    overBudget: (topic, action, limit) => metrics.overBudget.inc({ ...topicOf(topic), action, limit }),
    budgetReached: ({ account, period, percent }) => {
      metrics.spendAlerts.inc({ percent: String(percent) });
      log.warn('part of a budget is used', { account, period, percent });
    },
    safetyUnavailable: (topic) => metrics.safetyUnavailable.inc(topicOf(topic)),
    failOpen: (topic) => metrics.inputFailOpen.inc(topicOf(topic)),
    dispatched: (topic, waitedMs) => {
      metrics.jobsDispatched.inc(topicOf(topic));
      metrics.dispatchSeconds.observe(topicOf(topic), waitedMs / 1_000);
    },
    rolledBack: (topic, error) => {
      metrics.dispatchRollback.inc(topicOf(topic));
      log.warn('dispatch could not be published', { topic, error });
    },
    completed: (topic, status) => metrics.jobsCompleted.inc({ ...topicOf(topic), status }),
    waiting: (topic, reason) => {
      metrics.routingFailures.inc({ reason: reasonLabel(reason) });
      log.debug('job waits', { topic, reason });
    },
    replayed: (topic, what) => {
      metrics.orphanReplayed.inc(topicOf(topic));
      metrics.reconcilerRepairs.inc({ kind: what });
      log.info('job was mended', { topic, reason: what });
    },
    outputChecked: (topic, phase, decision, tookMs) => {
      metrics.outputChecked.inc(topicOf(topic));
      metrics.outputCheckSeconds.observe({ ...topicOf(topic), phase }, tookMs / 1_000);
      if (decision === 'QUARANTINE') metrics.outputQuarantined.inc(topicOf(topic));
      if (decision === 'REDACT') metrics.outputRedactions.inc(topicOf(topic));
    },
    reconciled: (tookMs) => metrics.reconcilerCycleSeconds.observe(tookMs / 1_000),
    openJobs: (counts) => {
      const states = new Map<string, number>();
      for (const { kind, label: state, count } of counts) {
        if (kind === 'stale') states.set(state, (states.get(state) ?? 0) + count);
      }
      metrics.staleJobs.replace([...states].map(([state, value]) => ({ labels: { state }, value })));
      const waiting = counts.filter(({ kind }) => kind === 'waiting');
      metrics.pendingJobs.replace(
        waiting.map(({ topic, label: reason, count }) => ({ labels: { topic, reason }, value: count })),
      );
    },
    flushed: (pool, jobs) => metrics.flushedOnWorkerOnline.inc({ pool }, jobs),
    approvalExpired: () => metrics.approvalsExpired.inc(),
    outputEvaluated: (topic, decision, tookMs) => {
      metrics.outputEvaluations.inc(topicOf(topic));
      metrics.outputEvalSeconds.observe(topicOf(topic), tookMs / 1_000);
      if (decision === 'QUARANTINE') metrics.outputDenials.inc(topicOf(topic));
    },
    outputLate: (topic) => metrics.outputAsyncTimeout.inc(topicOf(topic)),
    deadLetterFailed: (topic) => metrics.dlqEmitFailures.inc(topicOf(topic)),
    outputSkipped: (topic, error) => {
      metrics.outputSkipped.inc(topicOf(topic));
      log.warn('output was not checked', { topic, error });
    },
    ignoredResult: (jobId, why) => log.debug('result counts for nothing', { job_id: jobId, reason: why }),
    reportWithoutDispatch: (kind, reason, workerId, jobId) => {
      metrics.reportsWithoutDispatch.inc({ kind, reason });
      log.oncePer('report-without-dispatch', 10_000).warn('report without a dispatch id is ignored', {
        kind,
        reason,
        worker_id: workerId,
        job_id: jobId,
      });
    },
    refusedSubmission: (jobId, why) => {
      metrics.validationRejections.inc({ reason: 'submission' });
      log.oncePer('refused-submission', 10_000).warn('job from the bus is not taken', { job_id: jobId, reason: why });
    },
    publishFailed: (jobId, error) => log.warn('could not be published yet', { job_id: jobId, error }),
    repairFailed: (jobId, error, triesLeft) =>
      log.error('a job could not be mended', { job_id: jobId, error, tries_left: triesLeft }),
    scanLeft: (jobId, error) => log.warn('a scan is left to the queue', { job_id: jobId, error }),
    workerRefused: (workerId, reason) =>
      log.oncePer(`refused:${workerId}`, 3_600_000).warn('worker is not taken up', { worker_id: workerId, reason }),
    jobsLost: (workerId, jobs) => log.warn('worker no longer has jobs that it was sent', { worker_id: workerId, jobs }),
    workerLost: (workerId, jobs) => log.warn('worker went silent', { worker_id: workerId, jobs }),
    preempted: (jobId) => log.info('job made room for a critical one', { job_id: jobId }),
  };
}
