import { metrics } from './declare';

const perTopic = ['topic'] as const;
/** 0.1 ms to 100 ms. */
const evaluationBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1];
const breakers = ['input', 'output'] as const;

export const schedulerMetrics = metrics({
  jobsReceived: { name: 'svc_scheduler_jobs_received_total', type: 'counter', labels: perTopic, help: 'Jobs taken from the queue for a first decision.' },
  jobsDispatched: { name: 'svc_scheduler_jobs_dispatched_total', type: 'counter', labels: perTopic, help: 'Jobs sent to a worker.' },
  jobsCompleted: {
    name: 'svc_scheduler_jobs_completed_total',
    type: 'counter',
    labels: ['topic', 'status'],
    help: 'Jobs that ended, by how.',
  },
  safetyDenied: { name: 'svc_scheduler_safety_denied_total', type: 'counter', labels: perTopic, help: 'Jobs that policy denied.' },
  safetyUnavailable: { name: 'svc_scheduler_safety_unavailable_total', type: 'counter', labels: perTopic, help: 'Policy evaluations that failed or timed out.' },
  overBudget: {
    name: 'svc_scheduler_over_budget_total',
    type: 'counter',
    labels: ['topic', 'action', 'limit'],
    help: 'Evaluations of jobs over budget, by action taken and limit.',
  },
  spendAlerts: {
    name: 'svc_scheduler_budget_alerts_total',
    type: 'counter',
    labels: ['percent'],
    help: 'Parts of budgets that were reached.',
  },
  inputFailOpen: { name: 'svc_scheduler_input_fail_open_total', type: 'counter', labels: perTopic, help: 'Jobs let through without a decision.' },
  outputChecked: { name: 'svc_scheduler_output_policy_checked_total', type: 'counter', labels: perTopic, help: 'Results that were checked.' },
  outputQuarantined: { name: 'svc_scheduler_output_policy_quarantined_total', type: 'counter', labels: perTopic, help: 'Results that were withheld.' },
  outputSkipped: { name: 'svc_scheduler_output_policy_skipped_total', type: 'counter', labels: perTopic, help: 'Results released unchecked.' },
  outputAsyncTimeout: {
    name: 'svc_scheduler_output_policy_async_timeout_total',
    type: 'counter',
    labels: perTopic,
    help: 'Content checks that ran out of time.',
  },
  outputEvaluations: { name: 'svc_scheduler_output_evaluations_total', type: 'counter', labels: perTopic, help: 'Questions that output policy answered; a long result takes several.' },
  outputDenials: { name: 'svc_scheduler_output_denials_total', type: 'counter', labels: perTopic, help: 'Answers of output policy that withhold the result.' },
  outputRedactions: { name: 'svc_scheduler_output_redactions_total', type: 'counter', labels: perTopic, help: 'Results that were redacted.' },
  outputCheckSeconds: {
    name: 'svc_scheduler_output_check_latency_seconds',
    type: 'histogram',
    labels: ['topic', 'phase'],
    help: 'Time of an output check, phase sync or async.',
  },
  outputEvalSeconds: {
    name: 'svc_scheduler_output_eval_duration_seconds',
    type: 'histogram',
    labels: perTopic,
    buckets: evaluationBuckets,
    help: 'Time of one answer of output policy.',
  },
  dispatchSeconds: {
    name: 'svc_scheduler_dispatch_latency_seconds',
    type: 'histogram',
    labels: perTopic,
    help: 'Time from receipt to dispatch.',
  },
  reportsWithoutDispatch: {
    name: 'svc_scheduler_reports_without_dispatch_total',
    type: 'counter',
    labels: ['kind', 'reason'],
    help: 'Results and progress reports ignored because they name no dispatch, by the reason one was required.',
  },
  dispatchRollback: { name: 'svc_scheduler_dispatch_rollback_total', type: 'counter', labels: perTopic, help: 'Dispatches undone because the publish failed.' },
  orphanReplayed: { name: 'svc_scheduler_orphan_replayed_total', type: 'counter', labels: perTopic, help: 'Lost jobs that were queued again.' },
  flushedOnWorkerOnline: {
    name: 'svc_scheduler_dispatch_flush_on_worker_online_total',
    type: 'counter',
    labels: ['pool'],
    help: 'Waiting jobs dispatched when a new worker was first heard.',
  },
  staleJobs: { name: 'svc_scheduler_stale_jobs', type: 'gauge', labels: ['state'], help: 'Open jobs past their deadline, by state, as the reconciler last counted them.' },
  inflightHandlers: { name: 'svc_scheduler_inflight_handlers', type: 'gauge', help: 'Queue entries that this replica is processing.' },
  dlqEmitFailures: { name: 'svc_scheduler_dlq_emit_failures_total', type: 'counter', labels: perTopic, help: 'Dead letters whose notice could not be published; the replayer repeats it.' },
  validationRejections: {
    name: 'svc_scheduler_validation_rejections_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Packets refused because they are not valid.',
  },
  pendingJobs: { name: 'svc_scheduler_pending_jobs', type: 'gauge', labels: ['topic', 'reason'], help: 'Jobs that have waited for a worker for some seconds, by reason, as the reconciler last counted them.' },
  workers: {
    name: 'svc_scheduler_workers',
    type: 'gauge',
    labels: ['pool', 'state'],
    help: 'Live workers: ready, overloaded or draining.',
  },
  workerHeartbeatAgeSeconds: {
    name: 'svc_scheduler_worker_heartbeat_age_seconds',
    type: 'gauge',
    labels: ['pool'],
    help: 'Age of the oldest heartbeat of a pool.',
  },
  circuitState: {
    name: 'svc_scheduler_circuit_state',
    type: 'gauge',
    labels: ['breaker'],
    labelValues: { breaker: breakers },
    help: 'Breaker of the kernel: 0 closed, 1 open, 2 half-open.',
  },
  circuitTrips: {
    name: 'svc_scheduler_circuit_trips_total',
    type: 'counter',
    labels: ['breaker'],
    labelValues: { breaker: breakers },
    help: 'Times a breaker opened, as this replica learned it.',
  },
  routingFailures: { name: 'svc_scheduler_routing_failures_total', type: 'counter', labels: ['reason'], help: 'Jobs for which no worker was found.' },
  reconcilerCycleSeconds: { name: 'svc_scheduler_reconciler_cycle_seconds', type: 'histogram', help: 'Time of one reconciler cycle.' },
  reconcilerRepairs: {
    name: 'svc_scheduler_reconciler_repairs_total',
    type: 'counter',
    labels: ['kind'],
    help: 'Repairs by the reconciler and the replayer.',
  },
}); // prettier-ignore
