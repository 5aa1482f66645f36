import { metrics } from './declare';

export const engineMetrics = metrics({
  runsActive: {
    name: 'svc_workflow_runs_active',
    type: 'gauge',
    help: 'Runs that have not ended.',
  },
  runsEnded: {
    name: 'svc_workflow_runs_total',
    type: 'counter',
    labels: ['status'],
    help: 'Runs that ended, by final status.',
  },
  runSeconds: {
    name: 'svc_workflow_run_duration_seconds',
    type: 'histogram',
    labels: ['status'],
    // From a run of one short step to one that waits for approvals.
    buckets: [0.05, 0.25, 1, 5, 30, 300, 3_600, 6 * 3_600, 86_400],
    help: 'Duration of runs, from start to end.',
  },
  stepsEnded: {
    name: 'svc_workflow_steps_total',
    type: 'counter',
    labels: ['type', 'status'],
    help: 'Steps that ended, by type and final status; the items of a for_each step count as one.',
  },
  passSeconds: {
    name: 'svc_workflow_pass_duration_seconds',
    type: 'histogram',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2],
    help: 'Duration of one pass over a run: read events, plan, save and execute actions.',
  },
  passEvents: {
    name: 'svc_workflow_pass_events_total',
    type: 'counter',
    help: 'Events processed by passes.',
  },
  timerLagSeconds: {
    name: 'svc_workflow_timer_lag_seconds',
    type: 'histogram',
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2, 5, 30],
    help: 'Delay of timers after their due time.',
  },
  fenced: {
    name: 'svc_workflow_fenced_total',
    type: 'counter',
    help: 'Passes aborted because another engine owned the run.',
  },
  postponed: {
    name: 'svc_workflow_postponed_total',
    type: 'counter',
    help: 'Actions that failed and were postponed for a retry.',
  },
  repaired: {
    name: 'svc_workflow_mended_total',
    type: 'counter',
    help: 'Runs with pending work and no queue entry, requeued by the scan.',
  },
});
