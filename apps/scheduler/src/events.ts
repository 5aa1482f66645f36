import { shorten } from '@svc/contract';
import type { approvalMetrics, dispatchMetrics, Logger, OpenMetrics, schedulerMetrics } from '@svc/runtime';
import { dispatchEvents, poolTopicLabel, reasonLabel, type SchedulingEvents } from '@svc/dispatch';
import type { PoolTable } from '@svc/routing';
import type { RefusedWorker, StoreAccessEvents } from '@svc/worker-trust';

type SchedulerMetrics = OpenMetrics<
  typeof schedulerMetrics & typeof dispatchMetrics & typeof approvalMetrics
>['metrics'];

/** Records scheduling events as metrics and log lines. Topics without a pool are labelled `other`. */
export function schedulingEvents(metrics: SchedulerMetrics, log: Logger, pools: () => PoolTable): SchedulingEvents {
  const toTopicLabel = poolTopicLabel(pools);
  return {
    ...dispatchEvents(metrics, log, toTopicLabel),
    denied: (topic) => metrics.safetyDenied.inc(toTopicLabel(topic)),
    overBudget: (topic, action, limit) => metrics.overBudget.inc({ ...toTopicLabel(topic), action, limit }),
    budgetReached: ({ account, period, percent }) => {
      metrics.spendAlerts.inc({ percent: String(percent) });
      log.warn('budget threshold reached', { account, period, percent });
    },
    safetyUnavailable: (topic) => metrics.safetyUnavailable.inc(toTopicLabel(topic)),
    failOpen: (topic) => metrics.inputFailOpen.inc(toTopicLabel(topic)),
    completed: (topic, status) => metrics.jobsCompleted.inc({ ...toTopicLabel(topic), status }),
    waiting: (topic, reason) => {
      metrics.routingFailures.inc({ reason: reasonLabel(reason) });
      log.debug('job is waiting', { topic, reason });
    },
    replayed: (topic, what) => {
      metrics.orphanReplayed.inc(toTopicLabel(topic));
      metrics.reconcilerRepairs.inc({ kind: what });
      log.info('job repaired', { topic, reason: what });
    },
    outputChecked: (topic, phase, decision, tookMs) => {
      metrics.outputChecked.inc(toTopicLabel(topic));
      metrics.outputCheckSeconds.observe({ ...toTopicLabel(topic), phase }, tookMs / 1_000);
      if (decision === 'QUARANTINE') metrics.outputQuarantined.inc(toTopicLabel(topic));
      if (decision === 'REDACT') metrics.outputRedactions.inc(toTopicLabel(topic));
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
      metrics.outputEvaluations.inc(toTopicLabel(topic));
      metrics.outputEvalSeconds.observe(toTopicLabel(topic), tookMs / 1_000);
      if (decision === 'QUARANTINE') metrics.outputDenials.inc(toTopicLabel(topic));
    },
    outputLate: (topic) => metrics.outputAsyncTimeout.inc(toTopicLabel(topic)),
    deadLetterFailed: (topic) => metrics.dlqEmitFailures.inc(toTopicLabel(topic)),
    outputSkipped: (topic, error) => {
      metrics.outputSkipped.inc(toTopicLabel(topic));
      log.warn('output check skipped', { topic, error });
    },
    ignoredResult: (jobId, reason) => log.debug('result ignored', { job_id: shorten(jobId), reason }),
    unopenedTicket: (jobId, workerId) => {
      metrics.unopenedTickets.inc();
      log.oncePer('unopened-ticket', 10_000).warn('result ticket could not be opened, the record is read instead', {
        worker_id: shorten(workerId),
        job_id: shorten(jobId),
      });
    },
    reportWithoutDispatch: (kind, reason, workerId, jobId) => {
      metrics.reportsWithoutDispatch.inc({ kind, reason });
      log.oncePer('report-without-dispatch', 10_000).warn('report without a dispatch id ignored', {
        kind,
        reason,
        worker_id: shorten(workerId),
        job_id: shorten(jobId),
      });
    },
    reportDropped: (reason, workerId, jobId) => {
      metrics.reportsDropped.inc({ reason });
      log.oncePer(`report-dropped:${reason}`, 10_000).warn('log lines or partial output dropped', {
        reason,
        worker_id: shorten(workerId),
        job_id: shorten(jobId),
      });
    },
    refusedSubmission: (jobId, reason) => {
      metrics.validationRejections.inc({ reason: 'submission' });
      log.oncePer('refused-submission', 10_000).warn('job from the bus rejected', { job_id: jobId, reason });
    },
    publishFailed: (jobId, error) => log.warn('publishing a job event failed; retrying', { job_id: jobId, error }),
    repairFailed: (jobId, error, triesLeft) =>
      log.error('repairing a job failed', { job_id: jobId, error, tries_left: triesLeft }),
    scanDeferred: (jobId, error) => log.warn('output scan failed; the queue retries it', { job_id: jobId, error }),
    workerRefused: (workerId, reason) =>
      log.oncePer(`refused:${workerId}`, 3_600_000).warn('worker rejected', { worker_id: shorten(workerId), reason }),
    jobsLost: (workerId, jobs) =>
      log.warn('worker no longer reports jobs dispatched to it', { worker_id: workerId, jobs }),
    workerLost: (workerId, jobs) => log.warn('worker heartbeat expired', { worker_id: workerId, jobs }),
    preempted: (jobId) => log.info('job preempted', { job_id: jobId }),
  };
}

/** Counts packets that attestation refuses. The log names one of them a minute for each reason: senders are not verified. */
export const reportRefusedWorkers =
  (metrics: Pick<SchedulerMetrics, 'workerRefusals'>, log: Logger) =>
  ({ kind, reason, mode, workerId }: RefusedWorker): void => {
    metrics.workerRefusals.inc({ kind, reason, mode });
    log.oncePer(`attestation:${kind}:${reason}`, 60_000).warn('packet of a worker failed attestation', {
      worker_id: shorten(workerId, 128),
      kind,
      reason,
      mode,
    });
  };

/** Counts and logs changes of the users that workers have in NATS and Redis. */
export const reportStoreAccess = (
  metrics: Pick<SchedulerMetrics, 'storeAccessWorkers' | 'storeAccessChanges' | 'storeAccessFailures'>,
  log: Logger,
): StoreAccessEvents => ({
  onApplied(store, workers, changes) {
    metrics.storeAccessWorkers.set({ store }, workers);
    for (const change of ['granted', 'replaced', 'revoked'] as const)
      if (changes[change] > 0) metrics.storeAccessChanges.inc({ store, change }, changes[change]);
    if (changes.granted + changes.replaced + changes.revoked > 0)
      log.info('users of workers changed', { store, workers, ...changes });
  },
  onFailed(store, error) {
    metrics.storeAccessFailures.inc({ store });
    log.oncePer(`store-access:${store}`, 10_000).warn('changing the users of workers failed', { store, error });
  },
});
