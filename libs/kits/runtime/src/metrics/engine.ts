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
    help: 'Runs that ended, by how.',
  },
  runSeconds: {
    name: 'svc_workflow_run_duration_seconds',
    type: 'histogram',
    labels: ['status'],
    // From a run of one quick step to one that waits for people.
    buckets: [0.05, 0.25, 1, 5, 30, 300, 3_600, 6 * 3_600, 86_400],
    help: 'Time from the start of a run to its end.',
  },
  stepsEnded: {
    name: 'svc_workflow_steps_total',
    type: 'counter',
    labels: ['type', 'status'],
    help: 'Steps that ended, by kind and how; items of a fan-out count as one step.',
  },
  passSeconds: {
    name: 'svc_workflow_pass_duration_seconds',
    type: 'histogram',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2],
    help: 'Time of one turn of a run: to hear, plan, save and act.',
  },
  passEvents: {
    name: 'svc_workflow_pass_events_total',
    type: 'counter',
    help: 'Events that turns of runs have heard.',
  },
  timerLagSeconds: {
    name: 'svc_workflow_timer_lag_seconds',
    type: 'histogram',
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2, 5, 30],
    help: 'How late timers fired.',
  },
  fenced: {
    name: 'svc_workflow_fenced_total',
    type: 'counter',
    help: 'Turns that were given up since another engine had the run.',
  },
  postponed: {
    name: 'svc_workflow_postponed_total',
    type: 'counter',
    help: 'Actions that could not be carried out and were tried again.',
  },
  mended: {
    name: 'svc_workflow_mended_total',
    type: 'counter',
    help: 'Runs that had something to do and nobody to do it.',
  },
});
