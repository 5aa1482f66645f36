import { metrics } from './declare';

const perTopic = ['topic'] as const;
/** 0.1 ms to 100 ms. */
const evaluationBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1];
/** 1 ms to 1 s. */
const lockBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
const breakers = ['input', 'output'] as const;

/** Operations contract 2.1. */
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
  safetyUnavailable: { name: 'svc_scheduler_safety_unavailable_total', type: 'counter', labels: perTopic, help: 'Decisions that could not be had.' },
  overBudget: {
    name: 'svc_scheduler_over_budget_total',
    type: 'counter',
    labels: ['topic', 'action', 'limit'],
    help: 'Looks at jobs that did not fit into a budget, by what became of them and the setting they met.',
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
  outputEvaluations: { name: 'svc_scheduler_output_evaluations_total', type: 'counter', labels: perTopic, help: 'Output rule evaluations.' },
  outputDenials: { name: 'svc_scheduler_output_denials_total', type: 'counter', labels: perTopic, help: 'Output evaluations that denied.' },
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
    help: 'Time of one output evaluation.',
  },
  dispatchSeconds: {
    name: 'svc_scheduler_dispatch_latency_seconds',
    type: 'histogram',
    labels: perTopic,
    help: 'Time from receipt to dispatch.',
  },
  jobLockWaitSeconds: {
    name: 'svc_scheduler_job_lock_wait_seconds',
    type: 'histogram',
    buckets: lockBuckets,
    help: 'Time a handler waited for its job.',
  },
  jobLockAbandoned: { name: 'svc_scheduler_job_lock_abandoned_total', type: 'counter', help: 'Handlers that gave up waiting for their job.' },
  dispatchRollback: { name: 'svc_scheduler_dispatch_rollback_total', type: 'counter', labels: perTopic, help: 'Dispatches undone because the publish failed.' },
  orphanReplayed: { name: 'svc_scheduler_orphan_replayed_total', type: 'counter', labels: perTopic, help: 'Lost jobs that were queued again.' },
  flushedOnWorkerOnline: {
    name: 'svc_scheduler_dispatch_flush_on_worker_online_total',
    type: 'counter',
    labels: ['pool'],
    help: 'Waiting jobs sent because a worker came.',
  },
  staleJobs: { name: 'svc_scheduler_stale_jobs', type: 'gauge', labels: ['state'], help: 'Jobs past their deadline, by state.' },
  inflightHandlers: { name: 'svc_scheduler_inflight_handlers', type: 'gauge', help: 'Handlers at work in this replica.' },
  dlqEmitFailures: { name: 'svc_scheduler_dlq_emit_failures_total', type: 'counter', labels: perTopic, help: 'Dead letters that could not be written.' },
  resultPtrWriteFailures: {
    name: 'svc_scheduler_result_ptr_write_failure_total',
    type: 'counter',
    help: 'Results whose pointer could not be written.',
  },
  jobCancelFailures: { name: 'svc_scheduler_job_cancel_failures_total', type: 'counter', help: 'Cancellations that failed.' },
  validationRejections: {
    name: 'svc_scheduler_validation_rejections_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Packets refused because they are not valid.',
  },
  pendingJobs: { name: 'svc_scheduler_pending_jobs', type: 'gauge', labels: ['topic', 'reason'], help: 'Jobs that wait, and for what.' },
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
    help: 'Times a breaker opened.',
  },
  routingFailures: { name: 'svc_scheduler_routing_failures_total', type: 'counter', labels: ['reason'], help: 'Jobs for which no worker was found.' },
  reconcilerCycleSeconds: { name: 'svc_scheduler_reconciler_cycle_seconds', type: 'histogram', help: 'Time of one reconciler cycle.' },
  reconcilerRepairs: {
    name: 'svc_scheduler_reconciler_repairs_total',
    type: 'counter',
    labels: ['kind'],
    help: 'Things the reconciler put right.',
  },
}); // prettier-ignore
