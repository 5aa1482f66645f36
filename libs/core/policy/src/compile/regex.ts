import { RE2JS } from 're2js';

const maxLength = 1_024;
const maxAlternatives = 64;

/** A pattern from a policy, compiled for a linear-time engine. */
export interface ContentPattern {
  source: string;
  regex: RE2JS;
}

/** The fault of a pattern and its fix, or undefined. See docs/reference/policy.md#content-rules. */
export function regexFault(source: string): string | undefined {
  if (source === '') return 'is empty: an empty pattern matches everywhere';
  if (source.length > maxLength) return `is longer than ${maxLength} characters: split it into several patterns`;
  const alternatives = countAlternatives(source);
  if (alternatives > maxAlternatives) {
    return `has ${alternatives} alternatives, at most ${maxAlternatives} are allowed: use keywords, or split it`;
  }
  if (/\(\?(=|!|<=|<!)/.test(source)) {
    return 'looks ahead or behind, which the linear-time (RE2) engine does not support: match the surroundings too, or drop them';
  }
  try {
    RE2JS.compile(source);
    return undefined;
  } catch (error) {
    const detail = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'unknown fault';
    const backReference = /^invalid escape sequence: `\\\d`$/.test(detail);
    return backReference
      ? `refers back to a group (${detail}), which the linear-time (RE2) engine does not support: write the text out`
      : `is not a regular expression of the RE2 class: ${detail}`;
  }
}

/** @throws when the pattern does not compile; `regexFault` reports that without throwing */
export const compileRegex = (source: string): ContentPattern => ({ source, regex: RE2JS.compile(source) });

function countAlternatives(source: string): number {
  const outsideClasses = source.replace(/\\./gs, '').replace(/\[[^\]]*\]/g, '');
  return outsideClasses.split('|').length;
}
