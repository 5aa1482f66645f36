import { decodePacket, packetToJson, subjects, type Packet } from '@svc/contract';
import type { StreamEvent } from './stream-event';

/**
 * Subjects of the bus that are forwarded. Those of jobs are not: a packet on `sys.job.>` is a claim of its sender, so job
 * events are made from records. Heartbeats and alerts are forwarded once they are admitted. See docs/adr/0025-streams.md.
 */
export const tappedSubjects = [subjects.workflowEvent.name, 'sys.audit.>'] as const;

const isAudit = (subject: string): boolean => subject.startsWith('sys.audit.');
const MAX_AUDIT_BYTES = 65_536;

/** The event of a message on these subjects; undefined when it is unreadable. Workers cannot publish on them, so a tenant counts. */
export function toBusEvent(subject: string, bytes: Uint8Array): StreamEvent | undefined {
  if (isAudit(subject) && bytes[0] === OPENING_BRACE) return auditEvent(subject, bytes);
  const decoded = decodePacket(bytes);
  if (decoded.kind !== 'ok') return undefined;
  const { packet } = decoded;
  const json = packetToJson(packet);
  switch (packet.kind) {
    case 'alert':
      return isAudit(subject) ? undefined : workflowEvent(packet, json);
    case 'job_progress':
      return isAudit(subject) ? outputEvent(subject, packet, json) : undefined;
    default:
      return undefined;
  }
}

/** The event of a heartbeat that the worker trust has admitted. */
export const heartbeatEvent = (packet: Extract<Packet, { kind: 'heartbeat' }>): StreamEvent => ({
  class: 'worker',
  type: 'worker.heartbeat',
  packet: packetToJson(packet),
});

/** The event of an alert that was admitted. It has no tenant: workers may send it. */
export const alertEvent = (packet: Extract<Packet, { kind: 'alert' }>): StreamEvent => ({
  class: 'alert',
  type: 'system.alert',
  packet: packetToJson(packet),
});

const OPENING_BRACE = 0x7b;

/** Audit events are forwarded unchanged. */
function auditEvent(subject: string, bytes: Uint8Array): StreamEvent | undefined {
  if (bytes.length > MAX_AUDIT_BYTES) return undefined;
  try {
    const text = Buffer.from(bytes).toString('utf8');
    const { tenant_id: named, tenant = named } = JSON.parse(text) as { tenant_id?: unknown; tenant?: unknown };
    const owner = typeof tenant === 'string' && tenant !== '' ? { tenant } : {};
    return { class: 'audit', type: subject.slice('sys.'.length), ...owner, packet: text };
  } catch {
    return undefined;
  }
}

function workflowEvent({ body }: Extract<Packet, { kind: 'alert' }>, packet: object): StreamEvent {
  const { tenant, run_id: runId } = body.details;
  return { class: 'run', type: 'workflow.event', ...(tenant && { tenant }), ...(runId && { runId }), packet };
}

function outputEvent(
  subject: string,
  { body, identity }: Extract<Packet, { kind: 'job_progress' }>,
  packet: object,
): StreamEvent {
  const tenant = body.identity?.tenant_id ?? identity?.tenant_id;
  const owner = tenant ? { tenant } : {};
  return { class: 'audit', type: subject.slice('sys.'.length), ...owner, jobId: body.job_id, packet };
}
