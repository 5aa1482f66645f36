import type { approvalMetrics, engineMetrics, Logger, OpenMetrics } from '@svc/runtime';
import type { RunEvents } from '@svc/workflows';

type EngineMetrics = OpenMetrics<typeof engineMetrics & Pick<typeof approvalMetrics, 'approvalsExpired'>>['metrics'];

/** Records run events as metrics and log lines. Workflow ids are unbounded and therefore never labels. */
export const runEvents = (metrics: EngineMetrics, log: Logger): RunEvents => ({
  passed: (events, tookMs) => {
    metrics.passSeconds.observe(tookMs / 1_000);
    if (events > 0) metrics.passEvents.inc(events);
  },
  stepEnded: (type, status) => metrics.stepsEnded.inc({ type, status }),
  ended: (workflowId, status, tookMs) => {
    metrics.runsEnded.inc({ status });
    metrics.runSeconds.observe({ status }, tookMs / 1_000);
    log.debug('run ended', { workflow_id: workflowId, status, duration_ms: tookMs });
  },
  timerFired: (lateMs) => metrics.timerLagSeconds.observe(lateMs / 1_000),
  fenced: (runId) => {
    metrics.fenced.inc();
    log.info('run is locked by another engine', { run_id: runId });
  },
  postponed: (runId, what, error) => {
    metrics.postponed.inc();
    log
      .oncePer(`postponed:${runId}`, 10_000)
      .warn('run pass postponed; retrying', { run_id: runId, reason: what, error });
  },
  repaired: (runId) => {
    metrics.repaired.inc();
    log.info('run repaired', { run_id: runId });
  },
  gateExpired: () => metrics.approvalsExpired.inc(),
});
