import fc from 'fast-check';
import { canonicalHash, canonicalJson, fingerprint } from './canonical-json';

describe('canonicalJson', () => {
  it('is JSON of an equal value, and equal for equal values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  it('lists keys by UTF-16 code unit, integers and `__proto__` like any other', () => {
    const keys = ['10', '9', '-', 'a', 'A', 'é', '💩', '\uFF61', '__proto__', 'constructor'];
    const value = Object.fromEntries(keys.map((key) => [key, 0]));

    expect(canonicalJson(value)).toBe(
      '{"-":0,"10":0,"9":0,"A":0,"__proto__":0,"a":0,"constructor":0,"é":0,"💩":0,"\uFF61":0}',
    );
  });

  it('leaves out fields that are undefined; in lists, and numbers that JSON does not have, they are null', () => {
    expect(canonicalJson({ a: undefined, b: [undefined, NaN, Infinity, -0] })).toBe('{"b":[null,null,null,0]}');
    expect(canonicalJson(undefined)).toBe('null');
  });

  it('rejects a value that contains itself', () => {
    const value: Record<string, unknown> = {};
    value['self'] = value;

    expect(() => canonicalJson(value)).toThrow(TypeError);
  });

  it('orders objects with more keys than the library sorts by insertion', () => {
    const keys = Array.from({ length: 300 }, (_, i) => `k${(i * 7) % 300}`);
    const text = canonicalJson(Object.fromEntries(keys.map((key) => [key, key])));

    expect(Object.keys(JSON.parse(text) as object)).toEqual([...keys].sort());
  });
});

// Stored in Redis and published: a change of any of these rejects repeated requests and renames policy snapshots.
const vectors: [value: unknown, canonical: string, print?: string][] = [
  [
    { b: 1, a: { d: [1, { z: null, y: true }], c: 'x' } },
    'e4fa4d4178518c0ff78c0229cc07292ba33efc869552874a44d0e7003ab7a0b7',
  ],
  [
    { '10': 'j', '9': 'i', '-': 'm', a: 1, A: 2 },
    'e6d678344c151d7fa7dc4a0124c6367d2d8827799d3c68338c11c0bab52d9473',
    '833819f854f63070857be44b92a3abf69a934f776620be87872da0c0319829a4',
  ],
  [
    { é: 1, '💩': 2, '\uFF61': 3, 'quote"\n': '\u2028\ud800\u0007' },
    'd1a18363ae02e61169ef8de46087bbc764512a665ac762696ce8688bcd03bef8',
  ],
  [[-0, 1e21, 1e-7, 0.1, 2 ** 53], '9c136faf40f2158eb807a38d5d99a0773d7a53877c8f1eb5c2c29d8ad586fbc7'],
  [
    JSON.parse('{"__proto__":{"x":1},"constructor":0}'),
    '6690b12c64dbd25f7038a86592d2e3c4bf068a9e541eab09d39c9e67aa39ebbd',
  ],
];

describe('hashes', () => {
  it.each(vectors)('of %j stay as they are', (value, canonical, print = canonical) => {
    expect(canonicalHash(value)).toBe(canonical);
    expect(fingerprint(value)).toBe(print);
  });

  it('a fingerprint is equal for equal values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(fingerprint(JSON.parse(canonicalJson(value)))).toBe(fingerprint(value));
      }),
    );
  });
});
