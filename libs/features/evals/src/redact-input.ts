import { builtInScanners, redact, scan } from '@svc/scanning';

/** Replaces secrets and personal data in texts by `[REDACTED]`; each text is scanned once. */
export class InputRedactor {
  private readonly known = new Map<string, string>();

  labels(labels: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, this.text(value)]));
  }

  private text(value: string): string {
    const found = this.known.get(value);
    if (found !== undefined) return found;
    const body = Buffer.from(value);
    const { findings } = scan(body, { scanners: ['secret', 'pii'] }, builtInScanners, { maxBytes: body.length });
    const clean = findings.length === 0 ? value : Buffer.from(redact(body, findings)).toString('utf8');
    this.known.set(value, clean);
    return clean;
  }
}
