import { builtInScanners, scan } from '@svc/scanning';
import type { Session } from '../session';

const bodyBytes = 1_024 * 1_024;
const everything = { scanners: ['secret', 'pii', 'injection'] };

/** Output without findings: prose, a table, log lines, JSON; 1 MiB. */
export const scanClean = async (session: Session): Promise<number> => measureScan(buildBody(cleanParts), 0, session);

/** Output with a finding in every kilobyte. */
export const scanDirty = async (session: Session): Promise<number> =>
  measureScan(buildBody([...cleanParts, ...dirtyParts]), 500, session);

/** MB (10^6 bytes) per second through all built-in scanners. */
function measureScan(body: Buffer, leastFindings: number, { sizes }: Session): number {
  const set = builtInScanners;
  const { findings } = scan(body, everything, set);
  const found = findings.length;
  if (leastFindings === 0 ? found > 0 : found < leastFindings)
    throw new Error(`${found} findings in a body of the bench`);
  const rounds = Math.ceil(sizes.calls / 500);
  const startedMs = performance.now();
  for (let i = 0; i < rounds; i++) scan(body, everything, set);
  return (rounds * body.length) / 1_000 / (performance.now() - startedMs);
}

const cleanParts = [
  'The pilot boards at the outer buoy an hour before high water. Ships of more than 180 metres wait for the second tug, ' +
    'and nobody moors at the north quay while the crane is being moved. The harbour master is told of every change.\n',
  '2026-03-14 06:12:44 INFO berth planner: ship=Marguerite berth=7 draught=7.5 tide=4.2 eta=06:40 result=planned in 18 ms\n',
  '{"berth":7,"ship":"Marguerite","metres":180,"draught":7.5,"tugs":["Ada","Grace"],"windows":[{"from":"06:00","to":"09:30"}]}\n',
  '| berth | ship | from | to | cargo | remark |\n| 7 | Marguerite | 06:00 | 09:30 | grain | second tug at seven |\n',
  'function berthFor(ship, tide) {\n  return berths.find((berth) => berth.depth + tide > ship.draught + 0.5);\n}\n',
];

// Assembled at run time, so that secret scanners do not flag this repository.
const dirtyParts = [
  `aws key ${['AKIA', 'IOSFODNN7', 'EXAMPLQ'].join('')} was left in the log\n`,
  `write to harbour.master${'@'}example.org about berth 7, or call +44 20 7946 0958\n`,
  `password${' = '}"tR7#kQ2vX9mZ4pL8"\n`,
  `query: ' ${'OR'} 1=1 --\n`,
];

function buildBody(parts: readonly string[]): Buffer {
  const lines: string[] = [];
  for (let bytes = 0, i = 0; bytes < bodyBytes; i++) {
    const line = parts[i % parts.length] ?? '';
    lines.push(line);
    bytes += line.length;
  }
  return Buffer.from(lines.join('')).subarray(0, bodyBytes);
}
