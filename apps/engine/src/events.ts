import type { approvalMetrics, engineMetrics, Logger, OpenMetrics } from '@svc/runtime';
import type { RunEvents } from '@svc/workflows';

type EngineMetrics = OpenMetrics<typeof engineMetrics & Pick<typeof approvalMetrics, 'approvalsExpired'>>['metrics'];

/** Turns what happens into metrics and log lines. Ids of workflows are without number, so they are no labels. */
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
    log.info('another engine has the run', { run_id: runId });
  },
  postponed: (runId, what, error) => {
    metrics.postponed.inc();
    log.oncePer(`postponed:${runId}`, 10_000).warn('will be tried again', { run_id: runId, reason: what, error });
  },
  mended: (runId) => {
    metrics.mended.inc();
    log.info('run was mended', { run_id: runId });
  },
  gateExpired: () => metrics.approvalsExpired.inc(),
});
