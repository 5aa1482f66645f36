import { eachNastyDocument, fuzzed, fuzzTimeoutMs, hostileText, hostileYaml, mutatedBytes } from '@svc/testing';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RE2JS } from 're2js';
import { parseScanners } from './parse-scanners';
import { redact } from './redact';
import { regexFault } from './regex-fault';
import { scan } from './scan';
import { builtInScanners, compileScanners, type ScannerSet } from './scanner-set';

jest.setTimeout(fuzzTimeoutMs());

const shipped = readFileSync(join(__dirname, '../../../../config/output_scanners.yaml'), 'utf8');
const own = (regex: string) =>
  `version: v1\nscanners:\n  mine:\n    finding_type: custom\n    patterns:\n      - {name: x, regex: ${JSON.stringify(regex)}, severity: low, confidence: low, context_required: false}\n`;
const everything = { scanners: ['secret', 'pii', 'injection', 'mine'], keywords: ['\ud800', 'İ', 'a'] };
const body = Buffer.from(
  'my password: hunter2hunter2 is \u0000 é𝕏 AKIAABCDEFGHIJKLMNOP a@b.example 4111 1111 1111 1111',
);

/** Findings lie within the body, in order, and can be redacted. */
function scanAll(bytes: Uint8Array, set: ScannerSet): void {
  const { findings } = scan(bytes, everything, set);
  let last = 0;
  for (const { offset, length } of findings) {
    expect(offset).toBeGreaterThanOrEqual(last);
    expect(offset + length).toBeLessThanOrEqual(bytes.length);
    last = offset;
  }
  expect(redact(bytes, findings)).toBeInstanceOf(Uint8Array);
}

describe('a scanners file', () => {
  it.each(eachNastyDocument.map((text) => [text.slice(0, 60), text]))('is parsed or rejected: %j', (_shown, text) => {
    const parsed = parseScanners(text, { source: 'f' });

    expect(parsed.ok || parsed.problems[0]?.message).toBeTruthy();
  });

  it('with one mutation is parsed and scans, or is rejected with a message', () => {
    fc.assert(
      fc.property(hostileYaml([own('(a+)+$'), own('(?<value>[^\\s]+)@'), shipped.slice(0, 2_000)]), (text) => {
        const parsed = parseScanners(text, { source: 'f' });
        if (parsed.ok) scanAll(body, parsed.scanners);
        else for (const { message } of parsed.problems) expect(message).not.toBe('');
      }),
      fuzzed(80),
    );
  });
});

describe('a body', () => {
  it('of any bytes is scanned and redacted', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      mutatedBytes(fc.constant(body)),
      hostileText.map((text) => Buffer.from(text)),
    );

    fc.assert(
      fc.property(bytes, (given) => scanAll(given, builtInScanners)),
      fuzzed(300),
    );
  });
});

/** Shapes that are exponential in a backtracking engine, and texts that trigger it. */
const evil = ['(a+)+$', '(a|a)*$', '(a|aa)+$', '(.*a){12}', '^(([a-z])+.)+[A-Z]([a-z])+$', '(x+x+)+y', '([a-zA-Z]+)*!', '(?i)(a*)*b', '(a?){20}a{20}', '(\\w+\\s?)*$', '(?:a{0,50}){0,19}b', '[^b]*b?[^b]*c'] as const; // prettier-ignore
const evilTexts = ['a'.repeat(4_000) + '!', 'ab'.repeat(4_000), 'x'.repeat(4_000), 'a '.repeat(4_000), 'é'.repeat(4_000)]; // prettier-ignore

describe('an adversarial pattern', () => {
  it.each(evil)('%s is rejected, or terminates on every adversarial text', (source) => {
    const fault = regexFault(source);
    if (fault !== undefined) {
      expect(fault).not.toBe('');
      return;
    }
    const parsed = parseScanners(own(source), { source: 'f' });

    expect(parsed.ok).toBe(true);
    for (const text of evilTexts) scanSome(Buffer.from(text), source);
  });

  it.each(evil.filter((source) => source !== '(.*a){12}'))(
    '%s stops at its deadline and reports the overrun',
    (source) => {
      let asked = 0;
      const patterns = [{ source, regex: RE2JS.compile(source) }];

      const { overrun } = scan(Buffer.alloc(140_000, 'a'), { patterns }, builtInScanners, {
        expired: () => (asked += 1) > 1,
      });

      expect(overrun).toBe(true);
      // Once more at most: an overrun scan does no further work.
      expect(asked).toBeLessThanOrEqual(2);
    },
  );

  it('random pieces of patterns are rejected with a message, or compile and scan', () => {
    const pieces = ['a', '.', '\\d', '[^a]', '(', ')', '(?:', '(?i)', '|', '*', '+', '?', '{1000}', '{2,}', '\\1', '(?=', '(?<value>', '$', '^', '\\b', '\\p{L}', '[', ']', '\\', 'é', '\ud800', '\\x{10ffff}'] as const; // prettier-ignore
    const pattern = fc.oneof(
      fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 10 }).map((parts) => parts.join('')),
      hostileText,
    );

    fc.assert(
      fc.property(pattern, (source) => {
        const fault = regexFault(source);
        if (fault === undefined) scanSome(body, source);
        else expect(fault).not.toBe('');
      }),
      fuzzed(300),
    );
  });
});

function scanSome(bytes: Uint8Array, regex: string): void {
  const pattern = { name: 'x', regex, severity: 'low', confidence: 'low', context_required: false } as const;
  scanAll(bytes, compileScanners({ mine: { finding_type: 'custom', patterns: [pattern] } }));
}
