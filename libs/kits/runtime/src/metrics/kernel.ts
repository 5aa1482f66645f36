import { metrics } from './declare';

/** 0.5 ms to 250 ms; the target is 5 ms at the 99th percentile. */
const evaluationBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25];

/** For every process that runs the kernel's code. */
export const kernelMetrics = metrics({
  evaluations: {
    name: 'svc_safety_evaluations_total',
    type: 'counter',
    labels: ['method', 'decision'],
    help: 'Policy decisions.',
  },
  evaluationSeconds: {
    name: 'svc_safety_evaluation_seconds',
    type: 'histogram',
    labels: ['method', 'decision'],
    buckets: evaluationBuckets,
    help: 'Time of a policy decision.',
  },
  policyLoads: {
    name: 'svc_safety_policy_load_total',
    type: 'counter',
    labels: ['result'],
    labelValues: { result: ['ok', 'error'] },
    help: 'Loads of the policy.',
  },
  policyAgeSeconds: {
    name: 'svc_safety_policy_age_seconds',
    type: 'gauge',
    help: 'Time since the policy in use was loaded.',
  },
  unsignedBundles: {
    name: 'svc_safety_policy_unsigned_bundles',
    type: 'gauge',
    help: 'Bundles in force without a good signature.',
  },
  defaultDecisions: {
    name: 'svc_safety_default_decision_total',
    type: 'counter',
    labels: ['decision'],
    help: 'Decisions that no rule made.',
  },
  velocityChecks: {
    name: 'svc_safety_velocity_check_total',
    type: 'counter',
    labels: ['rule_id', 'result'],
    help: 'Velocity checks; rules beyond the policy in use count as other.',
  },
  velocityCheckSeconds: {
    name: 'svc_safety_velocity_check_duration_seconds',
    type: 'histogram',
    buckets: evaluationBuckets,
    help: 'Time of a velocity check.',
  },
  shadowEvaluations: {
    name: 'svc_shadow_eval_total',
    type: 'counter',
    labels: ['decision', 'diff'],
    help: 'Decisions of shadow policies, by how they differ from the live ones; UNAVAILABLE and none when there was no answer.',
  },
  shadowDropped: {
    name: 'svc_shadow_eval_dropped_total',
    type: 'counter',
    labels: ['reason'],
    labelValues: { reason: ['queue_full', 'closed'] },
    help: 'Decisions that shadow policies were not asked about, or whose comparison could not be written.',
  },
  shadowQueueDepth: {
    name: 'svc_shadow_eval_queue_depth',
    type: 'gauge',
    help: 'Decisions that wait for shadow policies.',
  },
  shadowSeconds: {
    name: 'svc_shadow_eval_duration_seconds',
    type: 'histogram',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    help: 'Time of a decision of a shadow policy.',
  },
});
