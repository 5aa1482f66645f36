import { metrics } from './declare';

/** 0.5 ms to 250 ms; the target is 5 ms at the 99th percentile. */
const evaluationBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25];

/** Metrics of every process that evaluates policy. */
export const kernelMetrics = metrics({
  evaluations: {
    name: 'svc_safety_evaluations_total',
    type: 'counter',
    labels: ['method', 'decision'],
    help: 'Policy evaluations, by decision.',
  },
  evaluationSeconds: {
    name: 'svc_safety_evaluation_seconds',
    type: 'histogram',
    labels: ['method', 'decision'],
    buckets: evaluationBuckets,
    help: 'Duration of a policy evaluation.',
  },
  policyLoads: {
    name: 'svc_safety_policy_load_total',
    type: 'counter',
    labels: ['result'],
    labelValues: { result: ['ok', 'error'] },
    help: 'Policy loads, by result.',
  },
  policyAgeSeconds: {
    name: 'svc_safety_policy_age_seconds',
    type: 'gauge',
    help: 'Time since the policy in effect was loaded.',
  },
  unsignedBundles: {
    name: 'svc_safety_policy_unsigned_bundles',
    type: 'gauge',
    help: 'Bundles in effect without a valid signature.',
  },
  defaultDecisions: {
    name: 'svc_safety_default_decision_total',
    type: 'counter',
    labels: ['decision'],
    help: 'Decisions for which no rule matched.',
  },
  velocityChecks: {
    name: 'svc_safety_velocity_check_total',
    type: 'counter',
    labels: ['rule_id', 'result'],
    help: 'Velocity checks; rules that are not in the policy in effect count as other.',
  },
  velocityCheckSeconds: {
    name: 'svc_safety_velocity_check_duration_seconds',
    type: 'histogram',
    buckets: evaluationBuckets,
    help: 'Duration of a velocity check.',
  },
  shadowEvaluations: {
    name: 'svc_shadow_eval_total',
    type: 'counter',
    labels: ['decision', 'diff'],
    help: 'Shadow evaluations, by decision and difference from the live decision; UNAVAILABLE and none when the evaluation failed.',
  },
  shadowDropped: {
    name: 'svc_shadow_eval_dropped_total',
    type: 'counter',
    labels: ['reason'],
    labelValues: { reason: ['queue_full', 'closed'] },
    help: 'Decisions without shadow evaluation, and comparisons that could not be written, by reason.',
  },
  shadowQueueDepth: {
    name: 'svc_shadow_eval_queue_depth',
    type: 'gauge',
    help: 'Decisions waiting for shadow evaluation.',
  },
  shadowSeconds: {
    name: 'svc_shadow_eval_duration_seconds',
    type: 'histogram',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    help: 'Duration of a shadow evaluation.',
  },
});
