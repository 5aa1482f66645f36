import { checkNames, type EvidenceReport, type ReadEvent } from '@svc/evidence-format';

const MAX_FAULTS = 20;
const MAX_EVENTS = 200;
const MAX_CHARS = 160;

/** Text from a bundle, which could otherwise control the terminal or forge lines of the report. */
const plain = (value: unknown): string => {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  // eslint-disable-next-line no-control-regex -- these are what is removed
  const shown = text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, '\ufffd');
  return shown.length > MAX_CHARS ? `${shown.slice(0, MAX_CHARS)}…` : shown;
};

const marks = { passed: 'ok    ', failed: 'FAILED', skipped: 'skip  ' } as const;

/** The report for people. Nothing from the bundle is printed before its checks, and never as control characters. */
export function formatReport(report: EvidenceReport, name: string): string {
  const { manifest, faults, warnings, checks, isVerified } = report;
  const lines = [`Evidence bundle ${plain(name)}`, ''];
  lines.push(...checks.map(({ name: check, result, detail }) =>
    `  ${marks[result]}  ${checkNames[check]}${detail ? ` (${plain(detail)})` : ''}`), ''); // prettier-ignore
  if (faults.length > 0) {
    lines.push(`Faults (the first one is where the bundle or the chain was changed first):`);
    lines.push(...faults.slice(0, MAX_FAULTS).map(({ place, text }) => `  ${plain(place)}: ${plain(text)}`));
    if (faults.length > MAX_FAULTS) lines.push(`  and ${faults.length - MAX_FAULTS} more`);
    lines.push('');
  }
  if (warnings.length > 0) lines.push('Warnings:', ...warnings.map((text) => `  ${text}`), '');
  if (manifest) {
    const { subject, requested_by: by, window, key_id } = manifest;
    lines.push(
      `Subject       ${subject.kind} ${plain(subject.id)}`,
      `Tenant        ${plain(manifest.tenant_id)}`,
      `Installation  ${plain(manifest.installation)}`,
      `Signed        ${plain(manifest.created_at)} with key ${plain(key_id)}${report.isKeyGiven ? '' : ' (named by the bundle itself)'}`,
      `Requested by  ${plain(by.identity)} (${plain(by.role)}), request ${plain(by.request_id)}`,
      `Searched      events ${window.first_seq} to ${window.last_seq}: ${window.searched} events, ${manifest.events} of them about the subject`,
      '',
    );
  }
  if (report.events.length > 0) {
    lines.push('Events:', ...report.events.slice(0, MAX_EVENTS).map(formatEvent));
    if (report.events.length > MAX_EVENTS) lines.push(`  and ${report.events.length - MAX_EVENTS} more`);
    lines.push('');
  }
  const first = faults[0];
  lines.push(
    isVerified
      ? `VERIFIED${report.isKeyGiven ? '' : ', if the key is the one of the installation'}`
      : `NOT VERIFIED: ${plain(first?.place)}: ${plain(first?.text)}`,
  );
  return `${lines.join('\n')}\n`;
}

function formatEvent({ seq, fields }: ReadEvent): string {
  if (!fields) return `  ${String(seq).padStart(8)}  (text withheld)`;
  const { timestamp, action, identity, decision, matched_rule: rule, reason } = fields;
  const more = [
    decision && `decision ${plain(decision)}`,
    rule && `rule ${plain(rule)}`,
    identity && `by ${plain(identity)}`,
    reason && `reason: ${plain(reason)}`,
  ].filter(Boolean);
  return `  ${String(seq).padStart(8)}  ${plain(timestamp)}  ${plain(action)}${more.length > 0 ? `  ${more.join(', ')}` : ''}`;
}
