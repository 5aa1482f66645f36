/** Whether events of a type are about normal operation, or about who may do what. */
export type AuditCategory = 'routine' | 'governance';

/**
 * Types of audit events. `holds` describes them in docs/reference/audit.md. Types with the same prefix as one that ends in `.`
 * belong to it.
 */
export const auditEventTypes = {
  'safety.decision': { category: 'governance', holds: 'a decision of policy on a job' },
  'safety.approval': { category: 'governance', holds: 'an approval or rejection by a person, or a repair of one' },
  'safety.policy_change': { category: 'governance', holds: 'a change of policies, rules or their bundles' },
  'safety.violation': { category: 'governance', holds: 'a result withheld by output policy' },
  'safety.output_review': { category: 'governance', holds: 'a withheld result released or confirmed by a person' },
  'legal_hold.created': { category: 'governance', holds: 'a legal hold created' },
  'legal_hold.released': { category: 'governance', holds: 'a legal hold released' },
  'governance.config_change': { category: 'governance', holds: 'a change of configuration, schemas, pools or topics' },
  'governance.workflow_change': { category: 'governance', holds: 'a change of a workflow or schedule' },
  'governance.eval': { category: 'governance', holds: 'an evaluation dataset, run or comparison created or removed' },
  'governance.read': { category: 'governance', holds: 'a read of stored documents by an administrator, or of a result that was withheld; also a refused one' },
  'job.transition': { category: 'routine', holds: 'a job that changed its state' },
  'job.request': { category: 'routine', holds: 'a request about a job, such as its cancellation' },
  'run.transition': { category: 'routine', holds: 'a run that changed its status' },
  'run.request': { category: 'routine', holds: 'a request about a run, such as its start or a signal' },
  'lock.request': { category: 'routine', holds: 'a lock acquired, renewed or released' },
  'system.auth': { category: 'routine', holds: 'a sign-in, or refused credentials' },
  'identity.change': { category: 'governance', holds: 'a user, group, role, key, mapping or token of sign-ins changed' },
  'auth.api_key_created': { category: 'governance', holds: 'an API key created' },
  'auth.api_key_revoked': { category: 'governance', holds: 'an API key revoked' },
  'auth.role_upserted': { category: 'governance', holds: 'a role created or changed' },
  'auth.role_deleted': { category: 'governance', holds: 'a role deleted' },
  'worker_trust_change': { category: 'governance', holds: 'a credential or session of a worker issued or revoked' },
  'agent_identity_change': { category: 'governance', holds: 'an agent registered, changed, suspended or revoked' },
  'agent.denied': { category: 'governance', holds: 'a call of an agent that its status or scope does not permit' },
  'delegation.lineage': { category: 'governance', holds: 'a delegation token issued or revoked' },
  'delegation.verified': { category: 'routine', holds: 'a delegation token verified on request' },
  'delegation.rejected': { category: 'governance', holds: 'a job refused because of its delegation token' },
  'delegation.revoked_before_dispatch': { category: 'governance', holds: 'a waiting job whose delegation became invalid' },
  'topic_registered': { category: 'routine', holds: 'a topic registered' },
  'topic_unregistered': { category: 'routine', holds: 'a topic removed' },
  'audit.read.events': { category: 'routine', holds: 'a read of audit events' },
  'audit.export': { category: 'governance', holds: 'an export of audit events or evidence' },
  'audit.unreadable': { category: 'governance', holds: 'an entry of the audit outbox that could not be read; it was kept as text' },
  'audit.retention': { category: 'governance', holds: 'events removed because their retention ended' },
  'tenant.changed': { category: 'governance', holds: 'a tenant created, suspended, resumed or deleted' },
  'telemetry.consent': { category: 'governance', holds: 'the telemetry mode chosen' },
  'license.reloaded': { category: 'governance', holds: 'the license read again on request' },
  'system.test': { category: 'governance', holds: 'a test of the exporter' },
} as const satisfies Record<string, { category: AuditCategory; holds: string }>; // prettier-ignore

export type AuditEventType = keyof typeof auditEventTypes;

/** The category of a type; unknown types, of another version, count as governance. */
export const getCategory = (type: string): AuditCategory =>
  Object.hasOwn(auditEventTypes, type) ? auditEventTypes[type as AuditEventType].category : 'governance';
