import { metrics } from './declare';

const day = 86_400;

/** Emitted by scheduler and gateway, and by the engine for approval steps that expire. */
export const approvalMetrics = metrics({
  approvalQueueDepth: {
    name: 'svc_approval_queue_depth',
    type: 'gauge',
    labels: ['risk_tier'],
    help: 'Pending approvals.',
  },
  approvalSeconds: {
    name: 'svc_approval_latency_seconds',
    type: 'histogram',
    // Approvals take minutes to days; the default buckets would put all of them in the last one.
    buckets: [10, 30, 60, 300, 900, 3_600, 4 * 3_600, 12 * 3_600, day, 3 * day, 7 * day],
    help: 'Time from the hold of a job to its approval or rejection.',
  },
  approvalsExpired: {
    name: 'svc_approval_expired_total',
    type: 'counter',
    help: 'Approvals that expired without a resolution.',
  },
  approvalDecisions: {
    name: 'svc_approval_decisions_total',
    type: 'counter',
    labels: ['decision'],
    labelValues: { decision: ['approve', 'reject'] },
    help: 'Approvals resolved, by decision.',
  },
});

/** Emitted by the scheduler, and by gateway and engine for jobs that they place at submission. */
export const dispatchMetrics = metrics({
  jobsReceived: {
    name: 'svc_scheduler_jobs_received_total',
    type: 'counter',
    labels: ['topic'],
    help: 'Jobs received for dispatch: taken from the queue for their first policy evaluation, or placed at submission.',
  },
  jobsDispatched: {
    name: 'svc_scheduler_jobs_dispatched_total',
    type: 'counter',
    labels: ['topic'],
    help: 'Jobs dispatched to a worker.',
  },
  dispatchSeconds: {
    name: 'svc_scheduler_dispatch_latency_seconds',
    type: 'histogram',
    labels: ['topic'],
    help: 'Time from receipt of a job to its dispatch.',
  },
  dispatchRollback: {
    name: 'svc_scheduler_dispatch_rollback_total',
    type: 'counter',
    labels: ['topic'],
    help: 'Dispatches rolled back because the publish failed.',
  },
  cancelledByLimits: {
    name: 'svc_jobs_cancelled_by_limits_total',
    type: 'counter',
    labels: ['limit'],
    labelValues: { limit: ['concurrency', 'debounce'] },
    help: 'Jobs cancelled by the strategy of a concurrency key, or replaced by a newer submission of a debounce key.',
  },
  routingFailures: {
    name: 'svc_scheduler_routing_failures_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Routing attempts that found no worker, by reason.',
  },
});

/** Every service. */
export const commonMetrics = metrics({
  queueDepth: { name: 'svc_queue_depth', type: 'gauge', labels: ['queue', 'state'], help: 'Entries per queue and state.' },
  queueWaitSeconds: {
    name: 'svc_queue_wait_seconds',
    type: 'histogram',
    labels: ['queue'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800],
    help: 'Time from the due time of an entry to its first processing.',
  },
  storeFindings: {
    name: 'svc_store_findings',
    type: 'gauge',
    labels: ['finding'],
    help: '1 per active finding about Redis: unsafe settings or suspected data loss.',
  },
  configRevision: { name: 'svc_config_revision', type: 'gauge', labels: ['document'], help: 'Revision in effect of each configuration document.' },
  buildInfo: { name: 'svc_build_info', type: 'gauge', labels: ['version'], help: 'Always 1; the label names the running version.' },
  certExpiresSeconds: {
    name: 'svc_cert_expires_seconds',
    type: 'gauge',
    labels: ['component', 'role', 'path'],
    help: 'Time until a certificate expires; role is the variable that names the file, path is the file name without its directory.',
  },
  certChainValid: {
    name: 'svc_cert_chain_valid',
    type: 'gauge',
    labels: ['component', 'role', 'path'],
    help: '1 when all certificates of a file are valid; 0 when one is not, or the file cannot be read.',
  },
}); // prettier-ignore
