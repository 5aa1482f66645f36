import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../stack/settings';

/** What is known of a pattern's time: it grows with the text alone, or with a power of a text that cannot be long. */
export type Verdict =
  | 'linear'
  | {
      /** The longest text that reaches it. */
      mostChars: number;
      /** Its time grows with this power of that length, as far as anybody found out. */
      power: number;
      /** What keeps the text that short. */
      why: string;
    };

export const verdictsFile = join(repositoryRoot, 'tools/patterns/verdicts.json');

/** By how the pattern is written. */
export const readVerdicts = (): Readonly<Record<string, Verdict>> =>
  JSON.parse(readFileSync(verdictsFile, 'utf8')) as Record<string, Verdict>;

/** Steps that are still done in a blink. */
const mostSteps = 2e8;

export const isBounded = (verdict: Verdict): boolean =>
  verdict === 'linear' || verdict.mostChars ** verdict.power <= mostSteps;
