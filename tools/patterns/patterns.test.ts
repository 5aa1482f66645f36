import { findPatterns } from './find-patterns';
import { judgePattern } from './judge-pattern';
import { isBounded, readVerdicts } from './verdicts';

const { patterns, builders } = findPatterns();
const verdicts = readVerdicts();

/** Files that build expressions at run time, and their parts. */
const knownBuilders: Readonly<Record<string, string>> = {
  'libs/kits/http/src/mount.ts': 'of paths of the route table',
  'libs/kits/http/src/compiled-checks/description.ts': 'expressions of declared schemas, read back from their text',
  'libs/core/policy/src/action-checks/tautology.ts': 'on conditions of at most 4,096 characters; its test tries texts that would take long',
  'libs/kits/runtime/src/logger/format.ts': 'a class of characters',
  'libs/core/scanning/src/checks-pii.ts': 'words of fixed length, from the start of a text',
  'libs/core/scanning/src/context.ts': 'words of fixed length',
  'libs/core/scanning/src/mask-tokens.ts': 'of the built-in patterns, judged here one by one; each begins with a literal',
  'libs/core/scanning/src/scanner-set.ts': 'of the built-in patterns, judged here one by one',
  'libs/core/scanning/src/views/disguise.ts': 'words of bounded length, at one place at a time',
  'libs/core/scanning/src/views/level.ts': 'words of bounded length',
  'libs/store/src/keys.ts': 'of the templates of keys',
  'libs/features/tenants/src/tenant-keys.ts': 'of the templates of keys and the escaped name of a tenant',
}; // prettier-ignore

describe('the regular expressions of the product', () => {
  it('all have a verdict, and every verdict has a pattern: run npm run patterns', () => {
    expect([...patterns.keys()].filter((text) => !Object.hasOwn(verdicts, text))).toEqual([]);
    expect(Object.keys(verdicts).filter((text) => !patterns.has(text))).toEqual([]);
    expect([...builders].sort()).toEqual(Object.keys(knownBuilders).sort());
    expect(patterns.size).toBeGreaterThan(200);
  });

  it('have linear run time, or an input of bounded length', () => {
    const slow = Object.entries(verdicts).filter(([, verdict]) => !isBounded(verdict));

    expect(slow).toEqual([]);
    expect(isBounded({ maxChars: 100_000, power: 2, why: 'it is not' })).toBe(false);
  });

  it('have verdicts that a fresh check confirms', () => {
    const linear = [...patterns].filter(([text]) => verdicts[text] === 'linear');
    // A sample that depends on the set of patterns.
    const some = linear.filter((_, i) => i % 7 === linear.length % 7);

    const wrong = some.filter(([, { source, flags }]) => {
      return judgePattern(source, flags, 500).status === 'vulnerable';
    });

    expect(wrong.map(([text]) => text)).toEqual([]);
    for (const source of ['(a+)+$', '(a|a)*$', '^(([a-z])+.)+[A-Z]([a-z])+$', 'x+$']) {
      expect([source, judgePattern(source, '', 5_000).status]).toEqual([source, 'vulnerable']);
    }
  }, 60_000);
});
