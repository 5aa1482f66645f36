import fc from 'fast-check';
import { covers, findExcess, intersect } from './glob';

describe('covers', () => {
  it.each([
    ['job.a', 'job.a', true],
    ['job.a', 'job.ab', false],
    ['job.*', 'job.', true],
    ['*', '', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'acb', false],
    ['a*bc*c', 'abc', false],
    ['*b*', 'abc', true],
    ['', '', true],
    ['', 'a', false],
    ['a.c', 'abc', false],
  ])('%s covers %s: %s', (pattern, text, expected) => {
    expect(covers(pattern, text)).toBe(expected);
  });

  it('agrees with a regular expression', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 8 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 10 });
    fc.assert(
      fc.property(piece, text, (pattern, given) => {
        const source = pattern.replace(/[.]/g, '\\.').replace(/\*+/g, '.*');
        expect(covers(pattern, given)).toBe(new RegExp(`^${source}$`).test(given));
      }),
      { numRuns: 3_000 },
    );
  });

  it('a long pattern with many wildcards is compared in linear steps', () => {
    const began = performance.now();

    expect(covers('*a'.repeat(128), `${'a'.repeat(5_000)}b`)).toBe(false);
    expect(performance.now() - began).toBeLessThan(200);
  });
});

describe('attenuation', () => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });

  it('a text covered by a narrower pattern is covered by the wider list', () => {
    fc.assert(
      fc.property(fc.array(pattern), fc.array(pattern), text, (wanted, granted, given) => {
        const kept = wanted.filter((one) => !findExcess(wanted, granted).includes(one));
        if (kept.some((one) => covers(one, given))) expect(granted.some((one) => covers(one, given))).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  it('a text covered by an intersection is covered by both lists', () => {
    fc.assert(
      fc.property(fc.array(pattern), fc.array(pattern), text, (a, b, given) => {
        if (!intersect(a, b).some((one) => covers(one, given))) return;
        expect(a.some((one) => covers(one, given)) && b.some((one) => covers(one, given))).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});
