import type { AuditSeverity } from '@svc/contract';
import type { ShownEvent } from './event-text';

const levels: Readonly<Record<AuditSeverity, number>> = { INFO: 1, LOW: 3, MEDIUM: 5, HIGH: 8, CRITICAL: 10 };

/**
 * An event in Common Event Format, revision 0, one line.
 *
 * @param version of the product
 */
export function cefLine(event: ShownEvent, version: string): string {
  const head = ['CEF:0', 'svc', 'control-plane', version, event.event_type, event.action]
    .map((text, i) => (i === 0 ? text : inHeader(text)))
    .join('|');
  const { extra = {} } = event;
  const fields: Readonly<Record<string, string | number | undefined>> = {
    rt: Date.parse(event.timestamp),
    externalId: event.event_hash,
    cat: event.event_type,
    act: event.action,
    outcome: event.decision,
    reason: event.reason,
    suser: event.identity,
    src: extra['source_ip'],
    cn1Label: 'seq',
    cn1: event.seq,
    ...labelled(1, 'tenant_id', event.tenant_id),
    ...labelled(2, 'prev_hash', event.prev_hash),
    ...labelled(3, 'job_id', event.job_id),
    ...labelled(4, 'agent_id', event.agent_id),
    ...labelled(5, 'matched_rule', event.matched_rule),
    ...labelled(6, 'extra', Object.keys(extra).length > 0 ? JSON.stringify(extra) : undefined),
  };
  const extension = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}=${inExtension(String(value))}`)
    .join(' ');
  return `${head}|${levels[event.severity] ?? 5}|${extension}`;
}

const labelled = (n: number, label: string, value: string | undefined): Record<string, string> =>
  value ? { [`cs${n}Label`]: label, [`cs${n}`]: value } : {};

const inHeader = (text: string): string => text.replace(/[\\|]/g, '\\$&').replace(/[\r\n]+/g, ' ');
const inExtension = (text: string): string =>
  text.replace(/[\\=]/g, '\\$&').replace(/\r/g, '\\r').replace(/\n/g, '\\n');
