import { limits } from './limits';
import { shorten } from './shorten';

it('keeps text up to the limit, and divides no character of a longer one', () => {
  expect(shorten('x'.repeat(limits.idChars))).toHaveLength(limits.idChars);
  expect(shorten('x'.repeat(limits.idChars + 1))).toBe(`${'x'.repeat(limits.idChars - 1)}…`);
  expect([shorten('abc', 3), shorten('abcd', 3), shorten('a😀b', 3)]).toEqual(['abc', 'ab…', 'a…']);
});
