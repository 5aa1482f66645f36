import type { Report } from './run-checks';
import type { CheckResult } from './verdict';

const words = { passed: 'passed', failed: 'FAILED', not_applicable: 'n/a' } as const;

/** One line for each check, and two more for a failed one. */
export function describeResult(result: CheckResult): string {
  const head = `${words[result.outcome].padEnd(7)} ${result.id.padEnd(22)} ${result.title}`;
  if (result.outcome === 'passed') return head;
  const indent = ' '.repeat(31);
  if (result.outcome === 'not_applicable') return `${head}\n${indent}${result.reason}`;
  return `${head}\n${indent}expected: ${result.expected}\n${indent}seen:     ${result.seen}`;
}

export function summarize({ worker_id, pool, checks }: Report): string {
  const count = (outcome: CheckResult['outcome']) => checks.filter((check) => check.outcome === outcome).length;
  const counts = `${count('passed')} passed, ${count('failed')} failed, ${count('not_applicable')} not applicable`;
  return `worker ${worker_id} of pool ${pool}: ${counts}`;
}

export const hasFailed = ({ checks }: Report): boolean => checks.some(({ outcome }) => outcome === 'failed');

/** The report in the format of JUnit, which CI systems display. */
export function toJunit({ worker_id, checks }: Report): string {
  const seconds = (ms: number) => (ms / 1_000).toFixed(3);
  const cases = checks.map((check) => {
    const open = `  <testcase classname="conformance" name="${escapeXml(check.id)}" time="${seconds(check.durationMs)}"`;
    if (check.outcome === 'passed') return `${open}/>`;
    const inside =
      check.outcome === 'failed'
        ? `<failure message="${escapeXml(`expected ${check.expected}; seen: ${check.seen}`)}"/>`
        : `<skipped message="${escapeXml(check.reason)}"/>`;
    return `${open}>${inside}</testcase>`;
  });
  const count = (outcome: CheckResult['outcome']) => checks.filter((check) => check.outcome === outcome).length;
  const counts = `tests="${checks.length}" failures="${count('failed')}" skipped="${count('not_applicable')}"`;
  const time = seconds(checks.reduce((sum, { durationMs }) => sum + durationMs, 0));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="conformance of ${escapeXml(worker_id)}" ${counts} time="${time}">`,
    ...cases,
    '</testsuite>',
    '',
  ].join('\n');
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Workers choose parts of the text; characters that XML does not allow are replaced. */
const escapeXml = (text: string): string =>
  text.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd]/g, '\ufffd').replace(/[&<>"]/g, (char) => entities[char] ?? char);
