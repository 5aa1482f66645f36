import { RE2JS } from 're2js';
import type { Budget } from './budget';
import type { Label, Report } from './finding';
import type { SlowJob } from './scan-slow';

const label: Label = {
  type: 'keyword_match',
  severity: 'medium',
  detail: 'contains a listed keyword',
  scanner: '',
  confidence: 0.95,
  matched_pattern: 'keyword',
};

const isAscii = (text: string) => Buffer.byteLength(text) === text.length;

/** Looks for plain words without case. */
export function scanKeywords(text: string, keywords: readonly string[], report: Report, budget: Budget): void {
  const plain = keywords.filter((word) => word !== '' && isAscii(word));
  if (plain.length === 0) return;
  // Lower-casing keeps the length: one character is one byte here.
  const lower = text.toLowerCase();
  for (const keyword of plain.map((word) => word.toLowerCase())) {
    for (let at = lower.indexOf(keyword); at >= 0; at = lower.indexOf(keyword, at + keyword.length)) {
      if (!report(label, at, keyword.length)) return;
    }
    if (!budget.spend(text.length)) return;
  }
}

/** Other alphabets have upper and lower case too; the engine that reads UTF-8 knows them. */
export const keywordPatterns = (keywords: readonly string[]): SlowJob[] =>
  keywords
    .filter((word) => !isAscii(word))
    .map((word) => ({ label, regex: RE2JS.compile(RE2JS.quote(word), RE2JS.CASE_INSENSITIVE) }));
