import { eachNastyDocument, fuzzed, fuzzTimeoutMs, hostileYaml } from '@svc/testing';
import fc from 'fast-check';
import Joi from 'joi';
import { readYamlDocument } from './yaml-document';

jest.setTimeout(fuzzTimeoutMs());

/** Accepts any value, so that only the parser can reject. */
const anything: Joi.Schema<unknown> = Joi.any();
const samples = ['a: 1\nb: [x, {c: d}]\ne: |\n  text\n', 'a: &a {b: c}\nd: *a\n', '{"a": [1, 2, {"b": null}]}'];

function read(text: string): void {
  const result = readYamlDocument(text, 'file.yaml', anything);
  if (result.ok) return;
  expect(result.problems.length).toBeGreaterThan(0);
  for (const { source, message, line, column } of result.problems) {
    expect({ source, message, line, column }).toEqual({
      source: 'file.yaml',
      message: expect.stringMatching(/./),
      line: expect.any(Number),
      column: expect.any(Number),
    });
  }
}

describe('a YAML file', () => {
  it.each(eachNastyDocument.map((text) => [text.slice(0, 60), text]))('is read or rejected: %j', (_shown, text) => {
    read(text);
  });

  it('that is nearly valid is read, or rejected with a position', () => {
    fc.assert(fc.property(hostileYaml(samples), read), fuzzed(150));
  });

  it.each([
    ['keys within keys', '? '.repeat(150), 'a key is a list or a map'],
    ['so many of them that parsing them is too dear', '? '.repeat(100_000), 'nested deeper than 64'],
    ['lists that never end', 'a: ' + '['.repeat(100_000), 'nested deeper than 64'],
    ['a key that reaches a prototype', 'a: {__proto__: {b: 1}}', 'may not be called __proto__'],
    ['a key that is there twice', 'a: 1\nb: {c: 1, d: 2, c: 3}\n', 'written twice'],
    ['an alias as a key', 'a: &a [x]\nb:\n  *a : c', 'a key is an alias'],
    ['65 lists in lists', 'a:\n  ' + '['.repeat(65) + ']'.repeat(65), 'nested deeper than 64'],
  ])('%s are rejected with their position', (_what, text, message) => {
    const result = readYamlDocument(text, 'file.yaml', anything);

    expect(result).toMatchObject({ ok: false, problems: [{ message: expect.stringContaining(message) }] });
    expect(!result.ok && result.problems[0]?.line).toBeGreaterThan(0);
  });

  it('with brackets in plain text is read', () => {
    const text = `a: "${'['.repeat(900)}"\nb: [${'[],'.repeat(2_000)}]\nc: |\n  ${'- '.repeat(150)}\n`;

    expect(readYamlDocument(text, 'file.yaml', anything).ok).toBe(true);
  });

  it('of 100,000 keys is read without a quadratic comparison of keys', () => {
    const keys = Array.from({ length: 100_000 }, (_, i) => `k${i}: 1\n`).join('');

    expect(readYamlDocument(keys, 'file.yaml', anything).ok).toBe(true);
    expect(readYamlDocument(`${keys}k7: 2\n`, 'file.yaml', anything)).toMatchObject({
      problems: [{ line: 100_001, column: 1, message: expect.stringContaining('written twice') as string }],
    });
  });
});
