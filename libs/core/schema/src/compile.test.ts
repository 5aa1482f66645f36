import { compileSchema, type CompiledSchema } from './compile';
import { schemaLimits } from './limits';

type Json = Record<string, unknown>;

function compiled(document: Json, known: Record<string, Json> = {}): CompiledSchema {
  const outcome = compileSchema(document, new Map(Object.entries(known)));
  if (outcome.kind !== 'compiled') throw new Error(JSON.stringify(outcome));
  return outcome.schema;
}
const check = (document: Json, value: unknown, known?: Record<string, Json>) => compiled(document, known).check(value);
const faults = (document: Json, known: Record<string, Json> = {}) => {
  const outcome = compileSchema(document, new Map(Object.entries(known)));
  return outcome.kind === 'invalid' ? outcome.violations : outcome;
};

const order = {
  type: 'object',
  required: ['sku', 'count'],
  properties: { sku: { type: 'string', pattern: '^[A-Z]{3}-\\d+$' }, count: { type: 'integer', minimum: 1 } },
  additionalProperties: false,
};

describe('a check', () => {
  it('finds no violation in a valid value', () => {
    expect(check(order, { sku: 'ABC-1', count: 2 })).toEqual([]);
  });

  it('reports every violation once, at a JSON pointer, sorted by path and message', () => {
    expect(check(order, { sku: 'abc', count: 0, 'a/b': 1, zed: 1 })).toEqual([
      { path: '$', message: 'must NOT have additional properties: "a/b"' },
      { path: '$', message: 'must NOT have additional properties: "zed"' },
      { path: '/count', message: 'must be >= 1' },
      { path: '/sku', message: 'must match pattern "^[A-Z]{3}-\\d+$"' },
    ]);
    const twice = { properties: { 'a/b': { allOf: [{ type: 'string' }, { type: 'string' }] } } };
    expect(check(twice, { 'a/b': 1 })).toEqual([{ path: '/a~1b', message: 'must be string' }]);
  });

  it('lists the allowed values', () => {
    expect(check({ enum: ['low', 'high'] }, 'mid')).toEqual([
      { path: '$', message: 'must be equal to one of the allowed values: "low", "high"' },
    ]);
    expect(check({ const: 3 }, 4)).toEqual([{ path: '$', message: 'must be equal to constant: 3' }]);
  });

  it.each([
    ['email', 'a@b.example', 'nothing'],
    ['date-time', '2026-11-21T10:00:00Z', 'yesterday'],
    ['uuid', '3f2b6c1e-9f5c-4a5e-8f44-0b1c2d3e4f50', '3f2b'],
    ['ipv4', '10.0.0.1', '10.0.0.256'],
    ['uri', 'https://acme.example/a', 'a b'],
  ])('asserts the format %s', (format, good, bad) => {
    const schema = compiled({ format });

    expect([good, bad].map((text) => schema.check(text).length)).toEqual([0, 1]);
  });

  it('rejects very long texts in every format except base64', () => {
    const text = 'a'.repeat(8_000);

    expect(
      [check({ format: 'uri-reference' }, text), check({ format: 'byte' }, text)].map((found) => found.length),
    ).toEqual([1, 0]);
    expect(check({ format: 'int32' }, 2 ** 40)).toHaveLength(1);
  });

  it('does not check unknown formats and keywords', () => {
    expect(check({ format: 'shoe-size', 'x-unit': { kg: true } }, 'xl')).toEqual([]);
  });

  it('ignores inherited properties', () => {
    expect(check({ required: ['constructor'] }, {})).toHaveLength(1);
    const proto = JSON.parse('{"properties": {"__proto__": {"type": "string"}}}') as Json;
    expect(check(proto, {})).toEqual([]);
  });

  it.each([
    [
      'equal objects',
      [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ],
      1,
    ],
    ['a number and its text', [1, '1'], 0],
    ['nothing twice', [], 0],
  ])('distinguishes %s in uniqueItems', (_, items, violations) => {
    expect(check({ uniqueItems: true }, items)).toHaveLength(violations);
    expect(check({ uniqueItems: false }, items)).toEqual([]);
  });

  it('reports only one violation of a large value', () => {
    const many = Array.from({ length: schemaLimits.gatherNodes }, () => 'x');

    expect(check({ items: { type: 'integer' } }, many)).toEqual([{ path: '/0', message: 'must be integer' }]);
    expect(check({ items: { type: 'integer' } }, many.slice(0, 500))).toHaveLength(schemaLimits.violations);
  });
});

describe('dialects', () => {
  it('default to 2020-12', () => {
    const tuple = { prefixItems: [{ type: 'string' }], items: false };
    expect(check(tuple, ['a', 'b'])).toHaveLength(1);

    const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] };
    expect([check(draft7, ['a', 1]), check(draft7, [1])].map((found) => found.length)).toEqual([0, 1]);
    expect(faults({ ...draft7, $schema: undefined })).not.toHaveLength(0);
  });

  it.each(['https://json-schema.org/draft/2019-09/schema', 'http://json-schema.org/draft-06/schema#'])(
    'take %s',
    ($schema) => {
      expect(check({ $schema, contains: { const: 1 } }, [2])).not.toHaveLength(0);
      expect(faults({ $schema, type: 'colour' })).not.toHaveLength(0);
    },
  );

  it('that are not supported are rejected', () => {
    expect(faults({ $schema: 'http://json-schema.org/draft-04/schema#' })).toEqual([
      { path: '/$schema', message: expect.stringContaining('2020-12') as string },
    ]);
  });
});

describe('references', () => {
  const item = { $id: 'https://acme.example/item', type: 'string' };
  const list = { $id: 'https://acme.example/list', items: { $ref: 'item' } };

  it('resolve within a document, cycles included', () => {
    const tree = { properties: { children: { items: { $ref: '#' } } }, required: ['name'] };

    expect(check(tree, { name: 'a', children: [{ name: 'b' }, {}] })).toEqual([
      { path: '/children/1', message: "must have required property 'name'" },
    ]);
  });

  it('resolve to known schemas by $id, relative to the $id of the referencing schema', () => {
    expect(check(list, ['a', 1], { [item.$id]: item })).toEqual([{ path: '/1', message: 'must be string' }]);
  });

  it('to an unknown schema report its $id', () => {
    expect(compileSchema(list, new Map())).toEqual({ kind: 'missing', id: item.$id });
  });

  it.each([
    ['to a place that is not there', { $ref: '#/$defs/none' }],
    [
      'into a default, which is data',
      { properties: { a: { default: { type: 'string' } } }, $ref: '#/properties/a/default' },
    ],
  ])('%s are rejected', (_, document) => {
    expect(faults(document)).toEqual([{ path: '$', message: expect.stringContaining('reference') as string }]);
  });

  it('to a schema of another dialect are rejected', () => {
    const old = { ...item, $schema: 'http://json-schema.org/draft-07/schema#' };

    expect(faults(list, { [item.$id]: old })).toEqual([
      { path: '$', message: `refers to ${item.$id}, which has another $schema` },
    ]);
  });
});

describe('a document', () => {
  let nested: Json = {};
  for (let i = 0; i <= schemaLimits.maxDepth; i++) nested = { not: nested };

  it.each([
    ['that is not a schema', { type: 'colour' }, '/type', 'must be equal to one of'],
    ['nested too deeply', nested, expect.anything() as string, 'deep'],
    ['with too many parts', { anyOf: Array.from({ length: 1_001 }, () => ({})) }, '$', 'subschemas'],
    ['that is too long', { title: 'x'.repeat(300_000) }, '$', 'bytes'],
    ['with a lookahead', { properties: { a: { pattern: 'a(?=b)' } } }, '/properties/a/pattern', 'looks ahead'],
    ['with a backreference', { patternProperties: { '(a)\\1': {} } }, '/patternProperties/(a)\\1', 'RE2'],
    ['with a pattern too long', { pattern: 'a'.repeat(1_025) }, '/pattern', 'split'],
    ['that is asynchronous', { $async: true }, '/$async', 'not part'],
    ['with references in its data', { const: { $ref: '#' } }, '/const', 'reference'],
    ['with a reference that is not a string', { $ref: 1 }, '/$ref', 'string'],
  ])('%s is rejected with path and message', (_, document, path, message) => {
    expect(faults(document)).toContainEqual({ path, message: expect.stringContaining(message) as string });
  });

  it('with patterns in the JavaScript dialect is accepted', () => {
    const date = { pattern: '^(?<year>\\d{4})\\/\\u0041$' };

    expect([check(date, '2026/A'), check(date, '2026/B')].map((found) => found.length)).toEqual([0, 1]);
  });
});

describe('a check that exceeds its budget is aborted', () => {
  const costly = [
    { path: '$', message: 'takes too long to check against its schema: simplify the schema, or send less' },
  ];
  const doubling = (levels: number): Json => ({
    $ref: '#/$defs/d0',
    $defs: Object.fromEntries(
      Array.from({ length: levels }, (_, i) => [
        `d${i}`,
        { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
      ]).concat([[`d${levels}`, { type: 'number' } as never]]),
    ),
  });

  it('when references double at every level', () => {
    expect(check(doubling(4), 1)).toEqual([]);
    expect(check(doubling(40), 1)).toEqual(costly);
  });

  it('when they do so under an unknown keyword', () => {
    const { $defs, $ref } = doubling(40);
    const text = JSON.stringify({ $ref, 'x-defs': $defs }).replaceAll('$defs', 'x-defs');

    expect(check(JSON.parse(text) as Json, 1)).toEqual(costly);
  });

  it('when a reference leads to itself', () => {
    expect(check({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, 1)).toEqual(costly);
  });

  it('when many patterns are matched against a long text', () => {
    const patterns = Array.from({ length: 500 }, (_, i) => ({ pattern: `(x+x+)+y${i}` }));

    expect(check({ not: { anyOf: patterns } }, 'x'.repeat(100_000))).toEqual(costly);
  });

  it('and the same schema checks the next value', () => {
    const schema = compiled({ not: { anyOf: Array.from({ length: 500 }, (_, i) => ({ pattern: `(x+x+)+y${i}` })) } });

    expect([schema.check('x'.repeat(100_000)), schema.check('x')]).toEqual([costly, []]);
  });
});
