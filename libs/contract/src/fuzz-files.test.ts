import { eachNastyDocument, fuzzed, fuzzTimeoutMs, hostileYaml } from '@svc/testing';
import fc from 'fast-check';
import Joi from 'joi';
import { readYamlDocument } from './yaml-document';

jest.setTimeout(fuzzTimeoutMs());

/** Takes whatever YAML says, so that the reader alone can refuse it. */
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
  it.each(eachNastyDocument.map((text) => [text.slice(0, 60), text]))('is read or refused: %j', (_shown, text) => {
    read(text);
  });

  it('that is nearly a good one is read, or refused with a place', () => {
    fc.assert(fc.property(hostileYaml(samples), read), fuzzed(150));
  });

  it.each([
    ['keys within keys', '? '.repeat(800), 'a key is a list or a map'],
    ['an alias as a key', 'a: &a [x]\nb:\n  *a : c', 'a key is an alias'],
    ['65 lists in lists', 'a:\n  ' + '['.repeat(65) + ']'.repeat(65), 'nested deeper than 64'],
  ])('%s are refused with their place', (_what, text, message) => {
    const result = readYamlDocument(text, 'file.yaml', anything);

    expect(result).toMatchObject({ ok: false, problems: [{ message: expect.stringContaining(message) }] });
    expect(!result.ok && result.problems[0]?.line).toBeGreaterThan(0);
  });
});
