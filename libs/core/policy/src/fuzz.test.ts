import { eachNastyDocument, fuzzed, fuzzTimeoutMs, hostileText, hostileYaml } from '@svc/testing';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mergePolicies } from './compile/merge-policies';
import { regexFault } from './compile/regex';
import { parsePolicy } from './document/parse-policy';
import { decide } from './evaluate/decide';
import { below } from './policy.testing';

jest.setTimeout(fuzzTimeoutMs());

const shipped = readFileSync(join(__dirname, '../../../../config/safety.yaml'), 'utf8');
const samples = [
  shipped,
  `version: '1'\ndefault_decision: deny\nrules:\n  - {id: r, decision: allow, match: {topics: ['job.*'], risk_tags: [a], content_patterns: ['(a+)+$']}}\n`,
  `rules:\n  - id: v\n    decision: throttle\n    match: {topics: [job.a]}\n    velocity: {max_requests: 5, window: 1m, key: tenant}\noutput_rules:\n  - {id: o, decision: redact, match: {scanners: [secret]}}\n`,
];

/** Parses a text as an operator's document; an accepted one must compile and decide. */
function readAndUse(text: string, mode: 'write' | 'load'): void {
  const parsed = parsePolicy(text, { source: 'fuzz', mode });
  if (!parsed.ok) {
    expect(parsed.problems.length).toBeGreaterThan(0);
    const lines = text.split(/\r\n|\r|\n/).length;
    for (const { message, line, column } of parsed.problems) {
      expect(message).not.toBe('');
      expect(line).toBeGreaterThanOrEqual(1);
      expect(line).toBeLessThanOrEqual(lines + 1);
      expect(column).toBeGreaterThanOrEqual(1);
    }
    return;
  }
  const policy = mergePolicies([parsed.document]);
  const { decision } = decide(policy, { topic: 'job.a', labels: { a: 'b' } }, below);
  expect(decision).not.toBe('');
}

describe('a policy file', () => {
  it.each(eachNastyDocument.map((text) => [text.slice(0, 60), text]))('is parsed or rejected: %j', (_shown, text) => {
    readAndUse(text, 'write');
    readAndUse(text, 'load');
  });

  it('with one mutation is parsed, or rejected with a position', () => {
    fc.assert(
      fc.property(hostileYaml(samples), fc.constantFrom('write' as const, 'load' as const), readAndUse),
      fuzzed(100),
    );
  });
});

describe('a pattern of a policy', () => {
  const pieces = ['a', '.', '\\d', '[^a]', '(', ')', '(?:', '(?i)', '|', '*', '+', '?', '{1000}', '{2,}', '{0,9999}', '\\1', '(?=', '(?<value>', '$', '^', '\\b', '\\p{L}', '\\Q', '[', ']', '\\', 'é', '\ud800', '\\x{10ffff}', '(((((((((('] as const; // prettier-ignore
  const pattern = fc.oneof(
    fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join('')),
    hostileText,
  );

  it('is accepted, or rejected with a message', () => {
    fc.assert(
      fc.property(pattern, (source) => {
        const fault = regexFault(source);
        expect(fault === undefined || fault.length > 0).toBe(true);
      }),
      fuzzed(300),
    );
  });
});
