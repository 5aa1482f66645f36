import { anyGlob, compileGlob, fold, globFault } from './glob';

describe('globs of topics', () => {
  it.each([
    ['job.a', 'job.a', true],
    ['job.a', 'job.ab', false],
    [' Job.A ', 'job.a', true],
    ['job.*', 'job.a.b.c', true],
    ['job.*', 'job.', true],
    ['job.*', 'jobs', false],
    ['job.*', 'job.a/b', false],
    ['*', 'anything.at.all', true],
    ['*.end', 'job.a.end', true],
    ['*.end', 'job.a.ends', false],
    ['job.*.end', 'job.a.b.end', true],
    ['job.*.*.end', 'job.a.end', false],
    ['job.?', 'job.a', true],
    ['job.?', 'job.', false],
    ['job.?', 'job./', false],
    ['job.[a-c]', 'job.b', true],
    ['job.[a-c]', 'job.d', false],
    ['job.[!a-c]', 'job.d', true],
    ['job.[^a-c]x', 'job.bx', false],
    ['job.[]x]', 'job.]', true],
    ['a*b*c', 'a.c.b.c', true],
    ['a*b*c', 'a.c.b', false],
    ['a**b', 'axb', true],
  ])('%s on %s: %s', (pattern, text, expected) => {
    expect(compileGlob(pattern)(fold(text))).toBe(expected);
    expect(anyGlob(['never', pattern])(fold(text))).toBe(expected);
  });

  it('takes linear time with many stars', () => {
    const matches = compileGlob(`${'a*'.repeat(200)}b`);

    expect(matches('a'.repeat(2_000))).toBe(false);
  });

  it.each(['', ' ', 'job.[a', 'x'.repeat(513)])('reports the fault of %p', (pattern) => {
    expect(globFault(pattern)).toEqual(expect.any(String));
  });
});
