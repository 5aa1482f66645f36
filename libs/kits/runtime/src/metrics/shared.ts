import { metrics } from './declare';

const day = 86_400;

/** Emitted by scheduler and gateway, and by the engine for approval steps that expire. */
export const approvalMetrics = metrics({
  approvalQueueDepth: {
    name: 'svc_approval_queue_depth',
    type: 'gauge',
    labels: ['risk_tier'],
    help: 'Approvals that wait.',
  },
  approvalSeconds: {
    name: 'svc_approval_latency_seconds',
    type: 'histogram',
    // People answer in minutes or days; the default buckets would put them all in the last.
    buckets: [10, 30, 60, 300, 900, 3_600, 4 * 3_600, 12 * 3_600, day, 3 * day, 7 * day],
    help: 'Time from holding a job to the decision of a person.',
  },
  approvalsExpired: {
    name: 'svc_approval_expired_total',
    type: 'counter',
    help: 'Approvals that expired without a decision.',
  },
  approvalDecisions: {
    name: 'svc_approval_decisions_total',
    type: 'counter',
    labels: ['decision'],
    labelValues: { decision: ['approve', 'reject'] },
    help: 'Decisions people made.',
  },
});

/** Every service. */
export const commonMetrics = metrics({
  queueDepth: { name: 'svc_queue_depth', type: 'gauge', labels: ['queue', 'state'], help: 'Entries of each queue.' },
  queueWaitSeconds: {
    name: 'svc_queue_wait_seconds',
    type: 'histogram',
    labels: ['queue'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800],
    help: 'Time from when an entry was due until a processor first took it.',
  },
  storeFindings: {
    name: 'svc_store_findings',
    type: 'gauge',
    labels: ['finding'],
    help: '1 for each thing that is wrong with the store: settings that may lose jobs, or data believed lost.',
  },
  configRevision: { name: 'svc_config_revision', type: 'gauge', labels: ['document'], help: 'Revision of each configuration document in use.' },
  buildInfo: { name: 'svc_build_info', type: 'gauge', labels: ['version'], help: 'Always 1; says which version runs.' },
  certExpiresSeconds: {
    name: 'svc_cert_expires_seconds',
    type: 'gauge',
    labels: ['component', 'role', 'path'],
    help: 'Time until a certificate or authority of a file expires; role is the variable that names it, path the file name only.',
  },
  certChainValid: {
    name: 'svc_cert_chain_valid',
    type: 'gauge',
    labels: ['component', 'role', 'path'],
    help: '1 when every certificate of a file is valid now; 0 when one is not, or the file cannot be read.',
  },
}); // prettier-ignore
