import { AppError } from '@svc/contract';
import fc from 'fast-check';
import { checkMemoryAccess } from './memory-access';

const getErrorCode = (config: Record<string, unknown> | undefined, id: string | undefined) => {
  try {
    checkMemoryAccess(config, id);
    return 'allowed';
  } catch (error) {
    return error instanceof AppError ? error.errorCode : error;
  }
};
const denies = (glob: string, id: string) => getErrorCode({ context: { denied_memory_ids: [glob] } }, id) !== 'allowed';

describe('checkMemoryAccess', () => {
  it('is skipped without a config, without its section, or when no id was sent', () => {
    const context = { denied_memory_ids: ['*'] };

    expect(getErrorCode(undefined, 'm')).toBe('allowed');
    expect(getErrorCode({ other: {} }, 'm')).toBe('allowed');
    expect(getErrorCode({ context }, undefined)).toBe('allowed');
    expect(getErrorCode({ context }, 'm')).toBe('memory_policy_violation');
  });

  it('denied ids win over allowed ids; an empty allow list allows all', () => {
    const context = { denied_memory_ids: ['a-secret'], allowed_memory_ids: ['a-*'] };

    expect(getErrorCode({ context }, 'a-notes')).toBe('allowed');
    expect(getErrorCode({ context }, 'a-secret')).toBe('memory_policy_violation');
    expect(getErrorCode({ context }, 'b')).toBe('memory_policy_violation');
    expect(getErrorCode({ context: { allowed_memory_ids: [] } }, 'b')).toBe('allowed');
  });

  it('needs a match in each list when several documents have one', () => {
    const context = { allowed_memory_ids: [['a-*'], ['*-notes', 'b']] };

    expect(getErrorCode({ context }, 'a-notes')).toBe('allowed');
    for (const id of ['a-b', 'x-notes', 'b']) expect(getErrorCode({ context }, id)).toBe('memory_policy_violation');
    for (const list of [['a', ['a']], [['a'], [1]], [[]], [['a'], []]])
      expect(getErrorCode({ context: { allowed_memory_ids: list } }, 'a')).toBe('memory_policy_unreadable');
  });

  it.each([[null], ['x'], [[]], [{ denied_memory_ids: {} }], [{ allowed_memory_ids: [null] }]])(
    'denies every id when a list is %j',
    (context) => {
      expect(getErrorCode({ context }, 'm')).toBe('memory_policy_unreadable');
    },
  );

  it.each([
    ['*', '', true],
    ['a*', 'a', true],
    ['*a', 'ba', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['ab*ba', 'aba', false],
    ['?', '', false],
    ['a.c', 'abc', false],
    ['A', 'a', false],
    ['**', 'x', true],
  ])('glob %s and %j: %s', (glob, id, matches) => {
    expect(denies(glob, id)).toBe(matches);
  });

  it('agrees with a regular expression on any glob', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 });
    const word = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 });

    fc.assert(
      fc.property(letters, word, (glob, id) => {
        const pattern = new RegExp(`^${glob.replace(/\*/g, '.*').replace(/\?/g, '.')}$`, 's');
        expect(denies(glob, id)).toBe(pattern.test(id));
      }),
      { numRuns: 2_000 },
    );
  });
});
