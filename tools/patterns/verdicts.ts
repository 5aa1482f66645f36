import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../stack/settings';

/** Run time of a pattern: linear in its input, or polynomial with an input of bounded length. */
export type Verdict =
  | 'linear'
  | {
      /** Maximum length of its input. */
      maxChars: number;
      /** Known exponent of its run time in that length. */
      power: number;
      /** What bounds the length. */
      why: string;
    };

export const verdictsFile = join(repositoryRoot, 'tools/patterns/verdicts.json');

/** By source of the pattern. */
export const readVerdicts = (): Readonly<Record<string, Verdict>> =>
  JSON.parse(readFileSync(verdictsFile, 'utf8')) as Record<string, Verdict>;

/** Number of steps that take well under a second. */
const maxSteps = 2e8;

export const isBounded = (verdict: Verdict): boolean =>
  verdict === 'linear' || verdict.maxChars ** verdict.power <= maxSteps;
