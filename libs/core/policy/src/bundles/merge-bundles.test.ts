import { parseDocument, buildPolicy, verdict } from '../policy.testing';
import type { BundleRecord } from './bundle-record';
import { inByteOrder, mergeBundles, type BundleParts } from './merge-bundles';

const rule = (id: string, decision: string) => `rules:\n  - {id: ${id}, decision: ${decision}}`;
const stored = (texts: Record<string, string>, off: readonly string[] = []) =>
  new Map(
    Object.entries(texts).map(([id, content]): [string, BundleRecord] => [id, { content, enabled: !off.includes(id) }]),
  );

function merged(parts: Partial<BundleParts>) {
  const result = mergeBundles({ base: [], bundles: new Map(), ...parts });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.policy;
}

describe('mergeBundles', () => {
  it('merges the base first, then enabled bundles by byte order of their ids', () => {
    const base = [parseDocument(rule('a', 'allow'), 'base')];
    const bundles = stored({ 'secops/z': rule('a', 'require_approval'), 'secops/b': rule('a', 'deny') });

    const policy = merged({ base, bundles });

    expect(verdict(policy, {})).toEqual(['REQUIRE_APPROVAL', 'a']);
    const inOrder = {
      base: rule('a', 'allow'),
      'secops/b': rule('a', 'deny'),
      'secops/z': rule('a', 'require_approval'),
    };
    expect(policy.snapshot).toBe(buildPolicy(inOrder).snapshot);
  });

  it('ignores a disabled bundle, even an invalid one', () => {
    const bundles = stored({ 'secops/a': rule('a', 'deny'), 'secops/b': 'rules: [' }, ['secops/a', 'secops/b']);

    expect(merged({ bundles }).rules).toEqual([]);
  });

  it('a candidate replaces the bundle of its id, is enabled even if that one is not, and may be new', () => {
    const bundles = stored({ 'secops/a': rule('a', 'deny'), 'secops/b': rule('b', 'deny') }, ['secops/b']);
    const sources = (id: string) =>
      merged({ bundles, candidate: { id, content: rule('c', 'allow') } }).rules.map(({ source, rule }) => [
        source,
        rule.id,
      ]);

    expect(sources('secops/a')).toEqual([['secops/a', 'c']]);
    expect(sources('secops/b')).toEqual([
      ['secops/a', 'a'],
      ['secops/b', 'c'],
    ]);
    expect(sources('secops/0')).toEqual([
      ['secops/0', 'c'],
      ['secops/a', 'a'],
    ]);
  });

  it('one invalid bundle fails the merge, and all problems are reported with their positions', () => {
    const bundles = stored({ 'secops/a': 'rules:\n  - {id: a}', 'secops/b': rule('b', 'deny'), 'x/c': 'nonsense: 1' });

    const result = mergeBundles({ base: [], bundles });

    expect(result).toMatchObject({
      ok: false,
      problems: [
        { source: 'secops/a', line: 2 },
        { source: 'x/c', line: 1 },
      ],
    });
  });

  it('an unknown decision is read as deny in a stored bundle and rejected in a candidate', () => {
    const content = rule('a', 'perhaps');

    expect(verdict(merged({ bundles: stored({ 'secops/a': content }) }), {})).toEqual(['DENY', 'a']);
    expect(mergeBundles({ base: [], bundles: new Map(), candidate: { id: 'secops/a', content } }).ok).toBe(false);
  });

  it('velocity rules over the licensed number are left out and reported', () => {
    const pace = (id: string) =>
      `rules:\n  - {id: ${id}, decision: deny, velocity: {max_requests: 1, window_seconds: 60, key: tenant}}`;
    const bundles = stored({ 'velocity/b': pace('b'), 'velocity/a': pace('a') });

    const policy = merged({ bundles, maxVelocityRules: 1 });

    expect(policy.rules.map(({ rule }) => rule.id)).toEqual(['a']);
    expect(policy.ignoredVelocityRules).toEqual(['b']);
  });
});

describe('inByteOrder', () => {
  it('sorts by the bytes of UTF-8', () => {
    expect(inByteOrder(['secops/\u{1F600}', 'secops/\uFF5E', 'secops/a', 'Secops/b'])).toEqual([
      'Secops/b', 'secops/a', 'secops/\uFF5E', 'secops/\u{1F600}',
    ]); // prettier-ignore
  });
});
