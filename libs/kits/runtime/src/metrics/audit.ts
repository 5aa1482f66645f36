import { metrics } from './declare';

/** Of the processes that append to the audit chains. */
export const auditMetrics = metrics({
  auditEvents: {
    name: 'svc_audit_events_total',
    type: 'counter',
    labels: ['category'],
    help: 'Events that this process appended to the audit chains.',
  },
  auditFailures: {
    name: 'svc_audit_failures_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Acts that could not be recorded (unrecorded), entries of the outbox that could not be read (unreadable), checkpoints that could not be published (anchor), and chains that were not trimmed because they do not verify (retention).',
  },
  auditExports: {
    name: 'svc_audit_export_total',
    type: 'counter',
    labels: ['format', 'status'],
    labelValues: { format: ['json', 'csv', 'cef', 'ocsf'], status: ['complete', 'failed'] },
    help: 'Exports of audit events over HTTP.',
  },
  auditExportEvents: {
    name: 'svc_audit_export_events',
    type: 'histogram',
    labels: ['format'],
    labelValues: { format: ['json', 'csv', 'cef', 'ocsf'] },
    buckets: [0, 10, 100, 1_000, 10_000, 100_000, 1_000_000],
    help: 'Events of an export over HTTP.',
  },
  auditExporterEvents: {
    name: 'svc_audit_exporter_events_total',
    type: 'counter',
    labels: ['outcome'],
    labelValues: { outcome: ['delivered', 'dead_letter'] },
    help: 'Events that the exporter delivered, or put into the dead letters because the receiver refuses them.',
  },
  auditExporterPending: {
    name: 'svc_audit_exporter_pending_events',
    type: 'gauge',
    help: 'Events that the exporter has not delivered yet. Grows while the receiver is unavailable.',
  },
  auditBatchDrops: {
    name: 'svc_audit_batch_drops_total',
    type: 'counter',
    help: 'Events that retention removed before the exporter could deliver them, and dead letters over their bound.',
  },
  auditTrimmed: {
    name: 'svc_audit_trimmed_events_total',
    type: 'counter',
    help: 'Events that were removed because their retention ended.',
  },
  legalHoldRecords: {
    name: 'svc_legal_hold_records_total',
    type: 'counter',
    labels: ['kind'],
    labelValues: { kind: ['freeze', 'thaw'] },
    help: 'Records that lost their expiry because of a legal hold that began, or got it back after the release.',
  },
  auditOutbox: {
    name: 'svc_audit_outbox_entries',
    type: 'gauge',
    help: 'Entries that are not in the audit chains yet. Grows while no engine runs.',
  },
});
