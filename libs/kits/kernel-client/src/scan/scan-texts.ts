import type { ContentNeeds } from '@svc/policy';
import { scan, type ScannerSet } from '@svc/scanning';
import { RE2JS } from 're2js';
import type { NeedsMessage, ScanAnswer, ScanQuestion } from './scan-messages';

/** @returns undefined on timeout */
export function scanTexts(question: ScanQuestion, set: ScannerSet, expired: () => boolean): ScanAnswer | undefined {
  const { texts, needs, maxBytes } = question;
  const answer: ScanAnswer = [];
  for (const wanted of needs) {
    const compiled = compiledNeeds(wanted);
    const row = [];
    for (const text of texts) {
      const { findings, truncated, overrun } = scan(text, compiled, set, {
        maxBytes,
        expired,
      });
      if (overrun) return undefined;
      row.push({ findings, truncated });
    }
    answer.push(row);
  }
  return answer;
}

/** Equal for equal needs, so that a text is scanned once for them. */
export const needsKey = (needs: ContentNeeds): string => JSON.stringify(needsMessage(needs));

export const needsMessage = ({ patterns, ...rest }: ContentNeeds): NeedsMessage => ({
  ...rest,
  patterns: patterns.map(({ source }) => source),
});

const MAX_PATTERNS = 512;
const patterns = new Map<string, RE2JS>();

/** Patterns were checked when the policy was loaded; compiling one takes longer than scanning a small text with it. */
const compiledNeeds = (needs: NeedsMessage): ContentNeeds => ({
  ...needs,
  patterns: needs.patterns.map((source) => {
    const regex = patterns.get(source) ?? RE2JS.compile(source);
    if (patterns.size >= MAX_PATTERNS) patterns.clear();
    patterns.set(source, regex);
    return { source, regex };
  }),
});
