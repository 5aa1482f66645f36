import { writeFileSync } from 'node:fs';
import { findPatterns } from './find-patterns';
import { judgePattern } from './judge-pattern';
import { readVerdicts, verdictsFile, type Verdict } from './verdicts';

const patientMs = 20_000;

/**
 * Judges the patterns that nobody has judged yet, and forgets those that are gone: `npm run patterns`. One whose time grows
 * with a power of the text is printed with a text that shows it; mend it, or write into the file what keeps its text short.
 */
const known = readVerdicts();
const verdicts: Record<string, Verdict> = {};
let isOpen = false;
for (const [text, { source, flags, where }] of findPatterns().patterns) {
  const verdict = known[text];
  if (verdict) {
    verdicts[text] = verdict;
    continue;
  }
  const found = judgePattern(source, flags, patientMs);
  if (found.status === 'safe') verdicts[text] = 'linear';
  else {
    isOpen = true;
    const shown = found.status === 'vulnerable' ? `${found.complexity.summary}, such as by ${found.attack.pattern}` : 'not found out in time'; // prettier-ignore
    console.error(`${text}\n  in ${where.join(', ')}\n  ${shown}`);
  }
}
const sorted = Object.fromEntries(Object.entries(verdicts).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(verdictsFile, `${JSON.stringify(sorted, null, 2)}\n`);
process.exitCode = isOpen ? 1 : 0;
