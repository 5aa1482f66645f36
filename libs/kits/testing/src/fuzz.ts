import fc from 'fast-check';

/**
 * Parameters of a property: every run has the same inputs unless FUZZ_SEED is set; FUZZ_RUNS overrides the number of runs.
 * A failure prints its seed.
 *
 * @param numRuns runs if FUZZ_RUNS is not set
 */
export const fuzzed = (numRuns: number): { seed: number; numRuns: number } => ({
  seed: readInteger('FUZZ_SEED') ?? 20_261_121,
  numRuns: readInteger('FUZZ_RUNS') ?? numRuns,
});

/** Time limit of a property: one minute, and proportionally more for a larger FUZZ_RUNS. */
export const fuzzTimeoutMs = (): number => 60_000 * Math.max(1, (readInteger('FUZZ_RUNS') ?? 0) / 200);

function readInteger(name: string): number | undefined {
  const text = process.env[name];
  if (!text) return undefined;
  const number = Number(text);
  if (!Number.isInteger(number)) throw new Error(`${name} is ${text}: must be an integer`);
  return number;
}

/** Strings that commonly break parsers and validators. */
const nastyTexts = [
  '', ' ', '\t', '\u0000', 'a\u0000b', '\ud800', '\udc00x', 'x\ud83d', '\uffff', '\ufeff', '\u202e', '\u2028', 'é', 'e\u0301', '𝕏', 'İ', 'ß',
  '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', 'null', 'undefined', 'NaN', 'Infinity',
  '0', '-0', '-1', '1.5', '1e999', '9007199254740993', '18446744073709551616', '0x1', '1_000',
  '*', '>', '?', '[a-', '(', '(a+)+$', '\\', '..', '../../etc/passwd', '/', '%', '%00', '%ff', '{s0}:job:x', 'a:b', 'a.b..c', 'job.', 'job.>',
  "' OR 1=1 --", '"; return 1', '${1}', '{{7*7}}', '<script>', '\r\nX-Evil: 1', 'secret://x', 'redis://ctx:x', 'x'.repeat(600),
]; // prettier-ignore

/** Short malformed or malicious strings, including lone surrogates and NUL. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...nastyTexts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...nastyTexts), { maxLength: 4 }).map((parts) => parts.join('')) },
);

const hostileNumbers = [0, -0, 1, -1, 1.5, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 1e308, 5e-324];

/** Deeply nested lists, which overflow the stack of a recursive parser. */
export const nested = (levels: number, open = '[', close = ']'): string => open.repeat(levels) + close.repeat(levels);

/** Any JSON value: wrong types, extreme numbers, prototype keys, nesting below and above usual limits. */
export const hostileJson: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom(...hostileNumbers, true, false, null),
  fc.array(hostileText, { maxLength: 4 }),
  fc.dictionary(hostileText, hostileText, { maxKeys: 4 }),
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom(63, 64, 65, 500).map((levels): unknown => JSON.parse(nested(levels))),
  fc.constant(null).map((): unknown => JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":{"a":1}}}')),
);

/** Bytes with a few flipped, removed, duplicated, or noise inserted. */
export const mutatedBytes = (original: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> =>
  fc.tuple(original, fc.array(byteMutation, { minLength: 1, maxLength: 4 })).map(([bytes, mutations]) => {
    const places = (share: number, length: number) => Math.floor(share * (length + 1));
    return mutations.reduce((changed, { kind, from, length, noise }) => {
      const at = places(from, changed.length);
      const [head, tail] = [changed.subarray(0, at), changed.subarray(at)];
      const cut = Math.min(length, tail.length);
      if (kind === 'truncate') return Uint8Array.from(head);
      if (kind === 'delete') return Buffer.concat([head, tail.subarray(cut)]);
      if (kind === 'double') return Buffer.concat([head, tail.subarray(0, cut), tail]);
      if (kind === 'insert') return Buffer.concat([head, noise, tail]);
      const flipped = Uint8Array.from(changed);
      if (at < flipped.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << (length % 8));
      return flipped;
    }, bytes);
  });

const byteMutation = fc.record({
  kind: fc.constantFrom('flip', 'flip', 'delete', 'double', 'insert', 'truncate'),
  from: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  length: fc.integer({ min: 0, max: 40 }),
  noise: fc.uint8Array({ maxLength: 12 }),
});
