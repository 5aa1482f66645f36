import { fuzzed, fuzzTimeoutMs } from '@svc/testing';
import fc from 'fast-check';
import { windowBytes } from './budget';
import { injectionPatterns } from './built-in/injection';
import { piiPatterns } from './built-in/pii';
import { secretPatterns } from './built-in/secret';
import { corpora } from './corpus.testing';
import { redact } from './redact';
import { maxFindings, scan } from './scan';
import { builtInScanners } from './scanner-set';

jest.setTimeout(fuzzTimeoutMs());

const all = { scanners: ['secret', 'pii', 'injection'] };
const pieces = corpora.flatMap(({ found, clean }) => [...found, ...clean].map(({ text }) => text));
const filler = fc.oneof(
  fc.constantFrom(' ', '\n', '\r\n', '\t', ', ', '。', ' é ', '😀', '"', '}', '\u200b', '\\n', '== ', '\u0000'),
  fc.string({ unit: 'grapheme', maxLength: 16 }),
);
const plain = fc.array(fc.tuple(filler, fc.constantFrom(...pieces)), { maxLength: 6 }).map((parts) => parts.flat());
const bodies = fc.oneof(
  plain.map((parts) => parts.join('')),
  plain.map((parts) => JSON.stringify({ lines: parts, all: parts.join(' ') })),
  plain.map((parts) => JSON.stringify({ inner: JSON.stringify(parts) }, null, 2)),
);

describe('a redacted copy', () => {
  it('of any mixture of the corpus, plain or JSON, removes every finding and nothing else', () => {
    fc.assert(
      fc.property(bodies, (text) => {
        const body = Buffer.from(text);
        const { findings } = scan(body, all, builtInScanners);

        const clean = Buffer.from(redact(body, findings));

        const kept = Buffer.from(body);
        for (const { offset, length } of findings) kept.fill(0xff, offset, offset + length);
        const expected = kept.toString('latin1').replaceAll(/\xff+/g, '[REDACTED]');
        expect(clean.toString('latin1')).toBe(expected);
      }),
      fuzzed(200),
    );
  });

  it('contains no found value, also not at a second position', () => {
    const secrets = corpora
      .filter(({ scanner }) => scanner === 'secret')
      .flatMap(({ found }) => found.flatMap(({ text, places }) => places.map((place) => ({ text, place }))));
    const several = fc.array(fc.tuple(filler, fc.constantFrom(...secrets)), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(several, (chosen) => {
        // Blanks around it, so that a neighbour does not extend it.
        const body = Buffer.from(chosen.map(([before, { text }]) => `${before} \n ${text} \n `).join(''));

        const clean = redact(body, scan(body, all, builtInScanners).findings);

        for (const [, { text, place }] of chosen) {
          const value = Buffer.from(text).subarray(place.offset, place.offset + place.length);
          if (value.length >= 12) expect(Buffer.from(clean).includes(value)).toBe(false);
        }
      }),
      fuzzed(200),
    );
  });

  it('has findings within the body, in order, for any disguise', () => {
    const unseen = fc.constantFrom('\u200b', '\u00ad', '\u0301', '\u{e0061}', '\ufeff');
    fc.assert(
      fc.property(fc.constantFrom(...pieces), unseen, fc.nat(80), (text, char, at) => {
        const body = Buffer.from(`${text.slice(0, at)}${char}${text.slice(at)}`);
        const { findings } = scan(body, all, builtInScanners);

        let last = 0;
        for (const { offset, length } of findings) {
          expect(offset).toBeGreaterThanOrEqual(last);
          expect(length).toBeGreaterThan(0);
          expect(offset + length).toBeLessThanOrEqual(body.length);
          last = offset;
        }
      }),
      fuzzed(300),
    );
  });
});

const patterns = [...secretPatterns, ...piiPatterns, ...injectionPatterns];
const needles = patterns.flatMap((pattern) => pattern.needles);
/** Unterminated starts of patterns, nesting, and input that each view has to decode. */
const traps = [
  'sk-', 'sk-a1-', 'ghp_', 'a@b.c', 'a@a.', `${'a'.repeat(64)}@`, 'git@github.com:', 'password=a1b2', 'password=1a-', 'token: a.b.c1.',
  'union select ', 'select a from b union select ', 'ignore all ', 'ignore > * # ', 'never ', 'rm -rf /x/', '$(curl ', 'curl a|b|',
  '-----BEGIN PRIVATE KEY-----', 'server=a;b=c;', 'postgres://a:', 'authorization: bearer ', '123-45-6789-', '+1234567', '4111 ', 'eyJ', '.eyJ',
  '\\', '\\\\n', '\\u0069', '\\u200b', '\x1b[0m', '\x1b[', '\u200b', 'a\u200b', 'а', 'aо', '\u{e0069}', 'e\u0301', '\u{1d41a}', '\uff49', '\xa0',
  'QUJD', 'QUJDREVGR0hJSktMTU5PUFFSU1RVVldY ', 'aWdub3JlIGFsbCBwcmV2aW91cyBpbnN0cnVjdGlvbnMg',
] as const; // prettier-ignore
const baits = [...new Set([...needles, ...traps])];
const opening = patterns.map((pattern) => pattern.needles[0] ?? '');
const repeatTo = (bait: string, bytes: number) =>
  Buffer.from(bait.repeat(Math.ceil(bytes / Buffer.byteLength(bait)))).subarray(0, bytes);

describe('a hostile text', () => {
  /** Number of deadline checks of a scan: one per window of work. */
  const asks = (bait: string, bytes: number) => {
    let asked = 0;
    scan(repeatTo(bait, bytes), all, builtInScanners, { expired: () => ++asked < 0 });
    return asked;
  };

  it.each(baits)('a long run of %j takes linear work', (bait) => {
    const bytes = windowBytes * 2;

    const [half, whole] = [asks(bait, bytes / 2), asks(bait, bytes)];

    expect(whole).toBeLessThanOrEqual(half * 2 + 4);
    expect(whole).toBeLessThanOrEqual((bytes / windowBytes) * 100);
  });

  it.each([...new Set([...opening, ...traps])])(
    'a scan of 2 MiB of %j stops at the deadline and reports the overrun',
    (bait) => {
      let asked = 0;
      const body = repeatTo(bait, 2 * 1_024 * 1_024);

      const { findings, overrun, truncated, scannedBytes } = scan(body, all, builtInScanners, {
        expired: () => ++asked >= 2,
      });

      expect({ asked, overrun, truncated, scannedBytes }).toEqual({
        asked: 2,
        overrun: true,
        truncated: false,
        scannedBytes: body.length,
      });
      expect(findings.length).toBeLessThanOrEqual(maxFindings);
    },
  );
});
