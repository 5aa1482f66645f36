import { RE2JS } from 're2js';
import type { Budget } from './budget';
import { confidenceNumber } from './definitions';
import type { Label, Report } from './finding';
import type { SlowJob } from './scan-slow';

/** A keyword is named by its place in the list, from 1: the text of a finding is never shown, and it is the keyword. */
const labelOf = (index: number): Label => ({
  type: 'keyword_match',
  severity: 'medium',
  detail: 'contains a listed keyword',
  scanner: '',
  confidence: confidenceNumber.high,
  matched_pattern: `keyword_${index + 1}`,
});

const isAscii = (text: string) => Buffer.byteLength(text) === text.length;

/**
 * Looks for plain words, in upper and lower case.
 *
 * @param text the body with one character a byte
 */
export function scanKeywords(text: string, keywords: readonly string[], report: Report, budget: Budget): void {
  const plain = keywords.map((word, index) => ({ word: word.toLowerCase(), label: labelOf(index) }));
  const wanted = plain.filter(({ word }) => word !== '' && isAscii(word));
  if (wanted.length === 0) return;
  // Lower-casing keeps the length: one character is one byte here.
  const lower = text.toLowerCase();
  for (const { word, label } of wanted) {
    for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + word.length)) {
      if (!report(label, at, word.length)) return;
    }
    if (!budget.spend(text.length)) return;
  }
}

/** Other alphabets have upper and lower case too; the engine that reads UTF-8 knows them. */
export const keywordPatterns = (keywords: readonly string[]): SlowJob[] =>
  keywords
    .map((word, index) => ({ word, label: labelOf(index) }))
    .filter(({ word }) => !isAscii(word))
    .map(({ word, label }) => ({ label, regex: RE2JS.compile(RE2JS.quote(word), RE2JS.CASE_INSENSITIVE) }));
