import { metrics } from './declare';

const perTopic = ['topic'] as const;
/** 0.1 ms to 100 ms. */
const evaluationBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1];
const breakers = ['input', 'output'] as const;

export const schedulerMetrics = metrics({
  jobsCompleted: {
    name: 'svc_scheduler_jobs_completed_total',
    type: 'counter',
    labels: ['topic', 'status'],
    help: 'Jobs that ended, by final status.',
  },
  safetyDenied: { name: 'svc_scheduler_safety_denied_total', type: 'counter', labels: perTopic, help: 'Jobs denied by policy.' },
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
    help: 'Budget thresholds reached, by percentage.',
  },
  inputFailOpen: { name: 'svc_scheduler_input_fail_open_total', type: 'counter', labels: perTopic, help: 'Jobs that ran without a policy decision because evaluation was unavailable.' },
  outputChecked: { name: 'svc_scheduler_output_policy_checked_total', type: 'counter', labels: perTopic, help: 'Results checked by output policy.' },
  outputQuarantined: { name: 'svc_scheduler_output_policy_quarantined_total', type: 'counter', labels: perTopic, help: 'Results quarantined by output policy.' },
  outputSkipped: { name: 'svc_scheduler_output_policy_skipped_total', type: 'counter', labels: perTopic, help: 'Results released without a check.' },
  outputAsyncTimeout: {
    name: 'svc_scheduler_output_policy_async_timeout_total',
    type: 'counter',
    labels: perTopic,
    help: 'Content checks that timed out.',
  },
  outputEvaluations: { name: 'svc_scheduler_output_evaluations_total', type: 'counter', labels: perTopic, help: 'Output policy evaluations; a long result takes several.' },
  outputDenials: { name: 'svc_scheduler_output_denials_total', type: 'counter', labels: perTopic, help: 'Output policy evaluations that denied the result.' },
  outputRedactions: { name: 'svc_scheduler_output_redactions_total', type: 'counter', labels: perTopic, help: 'Results redacted by output policy.' },
  outputCheckSeconds: {
    name: 'svc_scheduler_output_check_latency_seconds',
    type: 'histogram',
    labels: ['topic', 'phase'],
    help: 'Duration of an output check, by phase: sync or async.',
  },
  outputEvalSeconds: {
    name: 'svc_scheduler_output_eval_duration_seconds',
    type: 'histogram',
    labels: perTopic,
    buckets: evaluationBuckets,
    help: 'Duration of one output policy evaluation.',
  },
  reportsWithoutDispatch: {
    name: 'svc_scheduler_reports_without_dispatch_total',
    type: 'counter',
    labels: ['kind', 'reason'],
    help: 'Results and progress reports ignored because they contain no dispatch id, by the reason it was required.',
  },
  reportsDropped: {
    name: 'svc_scheduler_worker_reports_dropped_total',
    type: 'counter',
    labels: ['reason'],
    labelValues: { reason: ['rate', 'size', 'not_holder'] },
    help: 'Reports with log lines or partial output that were dropped: too many, too large, or not from the worker that holds the job.',
  },
  workerRefusals: {
    name: 'svc_scheduler_worker_refusals_total',
    type: 'counter',
    labels: ['kind', 'reason', 'mode'],
    help: 'Packets of workers that attestation refused (mode enforce), or would refuse (mode warn), by kind and reason.',
  },
  workerHandshakes: {
    name: 'svc_scheduler_worker_handshakes_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Steps of the trust handshake that ended it: issued, renewed, unreadable, limited (over the rate, without an answer), or the reason of the refusal.',
  },
  unopenedTickets: {
    name: 'svc_scheduler_unopened_result_tickets_total',
    type: 'counter',
    help: 'Result tickets that were forged, expired, of another dispatch, or sealed with an unknown key. The record is read instead.',
  },
  orphanReplayed: { name: 'svc_scheduler_orphan_replayed_total', type: 'counter', labels: perTopic, help: 'Orphaned jobs that were requeued.' },
  flushedOnWorkerOnline: {
    name: 'svc_scheduler_dispatch_flush_on_worker_online_total',
    type: 'counter',
    labels: ['pool'],
    help: 'Waiting jobs dispatched on the first heartbeat of a new worker.',
  },
  staleJobs: { name: 'svc_scheduler_stale_jobs', type: 'gauge', labels: ['state'], help: 'Jobs past their deadline that have not ended, by state, at the last reconciler cycle.' },
  inflightHandlers: { name: 'svc_scheduler_inflight_handlers', type: 'gauge', help: 'Queue entries that this replica is processing.' },
  dlqEmitFailures: { name: 'svc_scheduler_dlq_emit_failures_total', type: 'counter', labels: perTopic, help: 'Dead letters whose event could not be published; the replayer retries.' },
  validationRejections: {
    name: 'svc_scheduler_validation_rejections_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Invalid packets rejected.',
  },
  pendingJobs: { name: 'svc_scheduler_pending_jobs', type: 'gauge', labels: ['topic', 'reason'], help: 'Jobs that have waited several seconds for a worker, by reason, at the last reconciler cycle.' },
  workers: {
    name: 'svc_scheduler_workers',
    type: 'gauge',
    labels: ['pool', 'state'],
    help: 'Live workers, by state: ready, overloaded or draining, which includes workers of a draining pool.',
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
    help: 'State of the circuit breaker for the kernel: 0 closed, 1 open, 2 half-open.',
  },
  circuitTrips: {
    name: 'svc_scheduler_circuit_trips_total',
    type: 'counter',
    labels: ['breaker'],
    labelValues: { breaker: breakers },
    help: 'Times a circuit breaker opened, as observed by this replica.',
  },
  reconcilerCycleSeconds: { name: 'svc_scheduler_reconciler_cycle_seconds', type: 'histogram', help: 'Duration of a reconciler cycle.' },
  reconcilerRepairs: {
    name: 'svc_scheduler_reconciler_repairs_total',
    type: 'counter',
    labels: ['kind'],
    help: 'Repairs by the reconciler and the replayer, by kind.',
  },
}); // prettier-ignore
