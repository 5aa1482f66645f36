import { RE2JS } from 're2js';
import type { Budget } from './budget';
import { confidenceNumber } from './definitions';
import type { Label, Report } from './finding';
import type { SlowJob } from './scan-slow';

/** A keyword is identified by its position in the list, from 1: showing it would show the matched text. */
const toKeywordLabel = (index: number): Label => ({
  type: 'keyword_match',
  severity: 'medium',
  detail: 'contains a listed keyword',
  scanner: '',
  confidence: confidenceNumber.high,
  matched_pattern: `keyword_${index + 1}`,
});

const isAscii = (text: string) => Buffer.byteLength(text) === text.length;

/**
 * Finds plain words, case-insensitively.
 *
 * @param text the body with one character per byte
 */
export function scanKeywords(text: string, keywords: readonly string[], report: Report, budget: Budget): void {
  const plain = keywords.map((word, index) => ({ word: word.toLowerCase(), label: toKeywordLabel(index) }));
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

/** Case of other alphabets is handled by the engine that reads UTF-8. */
export const keywordPatterns = (keywords: readonly string[]): SlowJob[] =>
  keywords
    .map((word, index) => ({ word, label: toKeywordLabel(index) }))
    .filter(({ word }) => !isAscii(word))
    .map(({ word, label }) => ({ label, regex: RE2JS.compile(RE2JS.quote(word), RE2JS.CASE_INSENSITIVE) }));
