import { writeFileSync } from 'node:fs';
import { findPatterns } from './find-patterns';
import { judgePattern } from './judge-pattern';
import { readVerdicts, verdictsFile, type Verdict } from './verdicts';

const patientMs = 20_000;

/**
 * Checks new regular expressions and drops the verdicts of removed ones: `npm run patterns`. A pattern with polynomial run
 * time is printed with an example input; rewrite it, or record in the file what bounds the length of its input.
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
    const shown = found.status === 'vulnerable' ? `${found.complexity.summary}, such as by ${found.attack.pattern}` : 'not decided in time'; // prettier-ignore
    console.error(`${text}\n  in ${where.join(', ')}\n  ${shown}`);
  }
}
const sorted = Object.fromEntries(Object.entries(verdicts).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(verdictsFile, `${JSON.stringify(sorted, null, 2)}\n`);
process.exitCode = isOpen ? 1 : 0;
