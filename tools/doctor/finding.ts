export type Severity = 'error' | 'warning' | 'info';

/** A problem, or with `info` a fact, of the configuration. */
export interface Finding {
  severity: Severity;
  /** Code of the check, such as `store_unreachable`. */
  check: string;
  what: string;
  /** Corrective action; empty for facts. */
  fix: string;
}

const finding =
  (severity: Severity) =>
  (check: string, what: string, fix = ''): Finding => ({ severity, check, what, fix });
export const error = finding('error');
export const warning = finding('warning');
export const info = finding('info');

const order: readonly Severity[] = ['error', 'warning', 'info'];

/** One screen: errors first, each with its fix. */
export function formatFindings(findings: readonly Finding[]): string {
  const sorted = order.flatMap((severity) => findings.filter((one) => one.severity === severity));
  const lines = sorted.map(({ severity, check, what, fix }) => {
    const head = `${severity.padEnd(8)} ${check}: ${what}`;
    return fix ? `${head}\n         Fix: ${fix}` : head;
  });
  const count = (severity: Severity) => {
    const found = findings.filter((one) => one.severity === severity).length;
    return `${found} ${severity}${found === 1 ? '' : 's'}`;
  };
  return [...lines, `${count('error')}, ${count('warning')}`].join('\n');
}
