import { RE2JS } from 're2js';

const maxLength = 1_024;

/**
 * The fault of a file's pattern and its fix, or undefined.
 * See docs/reference/policy.md#content-rules.
 */
export function regexFault(source: string): string | undefined {
  if (source.length > maxLength) return `is longer than ${maxLength} characters: split it into several patterns`;
  if (/\(\?(=|!|<=|<!)/.test(source)) {
    return 'looks ahead or behind, which the linear-time (RE2) engine does not support: match the surroundings too, or drop them';
  }
  try {
    return RE2JS.compile(source).matches('') ? 'matches the empty text, so it would match everywhere' : undefined;
  } catch (error) {
    const detail = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'unknown fault';
    return /^invalid escape sequence: `\\\d`$/.test(detail)
      ? `refers back to a group (${detail}), which the linear-time (RE2) engine does not support: write the text out`
      : `is not a regular expression of the RE2 class: ${detail}`;
  }
}
