import type { ShownEvent } from './event-text';

/** Columns of the CSV export, in their order. */
export const csvColumns = [
  'timestamp', 'event_type', 'severity', 'tenant_id', 'agent_id', 'agent_name', 'agent_risk_tier', 'job_id', 'action',
  'decision', 'matched_rule', 'reason', 'risk_tags', 'capabilities', 'policy_version', 'identity', 'seq', 'event_hash',
  'prev_hash', 'soc2_controls', 'extra_json',
] as const; // prettier-ignore

/** RFC 4180. */
export const CSV_LINE_END = '\r\n';
/** Spreadsheets read a file with it as UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF';

export const csvHeader = csvColumns.join(',');

export function csvRow(event: ShownEvent, controls: readonly string[]): string {
  const cells: Readonly<Record<(typeof csvColumns)[number], string>> = {
    timestamp: event.timestamp,
    event_type: event.event_type,
    severity: event.severity,
    tenant_id: event.tenant_id,
    agent_id: event.agent_id ?? '',
    agent_name: event.agent_name ?? '',
    agent_risk_tier: event.agent_risk_tier ?? '',
    job_id: event.job_id ?? '',
    action: event.action,
    decision: event.decision ?? '',
    matched_rule: event.matched_rule ?? '',
    reason: event.reason ?? '',
    risk_tags: (event.risk_tags ?? []).join('|'),
    capabilities: (event.capabilities ?? []).join('|'),
    policy_version: event.policy_version ?? '',
    identity: event.identity ?? '',
    seq: String(event.seq),
    event_hash: event.event_hash,
    prev_hash: event.prev_hash ?? '',
    soc2_controls: controls.join('|'),
    extra_json: event.extra ? JSON.stringify(event.extra) : '',
  };
  return csvColumns.map((name) => csvCell(cells[name])).join(',');
}

/** A cell that no spreadsheet runs as a formula. */
export function csvCell(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
