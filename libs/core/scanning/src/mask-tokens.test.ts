import { builtInDefinitions } from './built-in';
import { maskTokens, tokenPatternNames } from './mask-tokens';
import { redactText } from './redact';
import { samples, unmark } from './samples.testing';

const isToken = (pattern: string) => tokenPatternNames.some((name) => name === pattern);
const rows = samples.filter(({ pattern }) => isToken(pattern));
const masked = (marked: string) => marked.replaceAll(/«[^»]*»/g, '[REDACTED]');

describe('maskTokens', () => {
  it.each(rows.flatMap(({ pattern, found }) => found.map((marked) => [pattern, marked] as const)))(
    '%s: %s is masked as by a scan',
    (_, marked) => {
      const { text } = unmark(marked);

      expect(maskTokens(text)).toBe(masked(marked));
      expect(redactText(text)).toBe(masked(marked));
    },
  );

  it.each(rows.flatMap(({ pattern, clean }) => clean.map((text) => [pattern, text] as const)))(
    '%s: %s stays',
    (_, text) => {
      expect(maskTokens(text)).toBe(text);
    },
  );

  it('masks every token in a text, and uses only existing patterns', () => {
    const [key = ''] = rows.find(({ pattern }) => pattern === 'google_api_key')?.found ?? [];
    const { text } = unmark(key);

    expect(maskTokens(`${text} ${text},${text}`)).toBe('[REDACTED] [REDACTED],[REDACTED]');
    const known = builtInDefinitions['secret']?.patterns.map(({ name }) => name);
    expect(known).toEqual(expect.arrayContaining([...tokenPatternNames]));
  });
});
