import { CompileCache } from './compile-cache';

describe('the cache of compiled schemas', () => {
  it('compiles equal schemas once, regardless of key order', () => {
    const cache = new CompileCache();

    const first = cache.compile({ type: 'object', required: ['a'] }, new Map());

    expect(cache.compile({ required: ['a'], type: 'object' }, new Map())).toBe(first);
    expect(cache.compile({ required: ['b'], type: 'object' }, new Map())).not.toBe(first);
  });

  it('compiles again when a referenced schema changed', () => {
    const cache = new CompileCache();
    const root = { $ref: 'acme:item' };
    const under = (type: string) => cache.compile(root, new Map([['acme:item', { $id: 'acme:item', type }]]));

    const outcomes = [under('string'), under('number')];

    expect(outcomes.map((made) => (made.kind === 'compiled' ? made.schema.check('text') : made))).toEqual([
      [],
      [{ path: '$', message: 'must be number' }],
    ]);
  });

  it('evicts the least recently used schema', () => {
    const cache = new CompileCache(2);
    const [a, b, c] = ['a', 'b', 'c'].map((title) => ({ title }));
    const first = cache.compile(a ?? {}, new Map());
    cache.compile(b ?? {}, new Map());
    cache.compile(a ?? {}, new Map());
    cache.compile(c ?? {}, new Map());

    expect(cache.size).toBe(2);
    expect(cache.compile(a ?? {}, new Map())).toBe(first);
  });
});
