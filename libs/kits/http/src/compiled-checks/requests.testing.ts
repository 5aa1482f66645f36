import type { Endpoint } from '@svc/contract';
import fc from 'fast-check';
import Joi from 'joi';
import type { Description, Rule } from './description';

/** A request before validation. */
export interface RawRequest {
  params: unknown;
  query: unknown;
  body: unknown;
}

const json = (text: string): unknown => JSON.parse(text) as unknown;

/** Values that validators often get wrong. */
const hostile = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    undefined,
    '',
    ' ',
    [],
    {},
    0,
    -0,
    Infinity,
    2 ** 53,
    -(2 ** 60),
    1e308,
    1.5,
    true,
    '\ud800',
    '\u0000',
    '5',
    '-0',
    '007',
    ' 7 ',
    '1e3',
    '9007199254740993',
    'true',
    'TRUE',
    [undefined],
    Object.create(null),
    json('{"__proto__":{"polluted":true}}'),
    json('{"constructor":{"prototype":{}},"toString":1,"hasOwnProperty":null}'),
  ),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'grapheme' }),
  fc.integer({ min: 100, max: 5_000 }).map((length) => '𝒳'.repeat(length)),
  fc.double(),
);

/** Mostly values that fit a schema, and some near it or hostile. */
function arbitraryValue(schema: Description): fc.Arbitrary<unknown> {
  const { allow = [], flags = {} } = schema;
  const allowed = allow.length > 0 ? [{ arbitrary: fc.constantFrom<unknown>(...allow), weight: 4 }] : [];
  const typed = flags['only'] === true ? [] : [{ arbitrary: typedValue(schema), weight: 14 }];
  return fc.oneof(...allowed, ...typed, { arbitrary: hostile, weight: 1 });
}

const words = ['job.default', 'job.a.b-c', 'job..x', 'acme', '2026-01-31', '2026-01-31T12:00:00Z', '* * * * *', 'v1', '12', 'f'.repeat(64)]; // prettier-ignore

function typedValue(schema: Description): fc.Arbitrary<unknown> {
  const { type, rules = [] } = schema;
  switch (type) {
    case 'string':
      return fc.oneof(
        fc.constantFrom(...words),
        fc.string({ maxLength: 40 }),
        ...edges(rules).map((length) => fc.constant('é'.repeat(length))),
      );
    case 'number':
      return fc.oneof(fc.integer(), fc.nat(100), fc.constantFrom(...edges(rules), 0, -0), fc.nat(500).map(String));
    case 'boolean':
      return fc.oneof(fc.boolean(), fc.constantFrom('true', 'false'));
    case 'array':
      return arbitraryArray(schema);
    case 'object':
      return arbitraryObject(schema);
    default:
      return fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.nat(600), fc.nat(600).map(String));
  }
}

/** Values at the limits of a schema and beside them. */
const edges = (rules: readonly Rule[]): number[] =>
  rules.flatMap(({ args }) => {
    const limit = args?.['limit'];
    return typeof limit === 'number' && limit < 70_000 ? [Math.max(0, limit - 1), limit, limit + 1] : [];
  });

function arbitraryArray({ items = [], rules = [] }: Description): fc.Arbitrary<unknown[]> {
  const item = items[0] ? arbitraryValue(items[0]) : fc.jsonValue();
  const longest = Math.max(4, ...edges(rules).filter((limit) => limit <= 200));
  const long = edges(rules).filter((limit) => limit <= 200 && items[0]?.type === 'string');
  return fc.oneof(
    { arbitrary: fc.array(item, { maxLength: 4 }), weight: 6 },
    ...long.map((length) => ({
      arbitrary: fc.constant(Array<string>(Math.min(length, longest)).fill('x')),
      weight: 1,
    })),
  );
}

const names = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom('a', '1', '__proto__', 'constructor', 'a\nb', 'é', '', 'no_such_field'),
);

function arbitraryObject({ keys = {}, patterns = [], rules = [] }: Description): fc.Arbitrary<unknown> {
  const fields = Object.entries(keys).map(([name, field]) => {
    const value = arbitraryValue(field);
    const isRequired = field.flags?.['presence'] === 'required';
    const member = fc.oneof(
      { arbitrary: value.map((one) => [[name, one]] as const), weight: isRequired ? 30 : 1 },
      { arbitrary: fc.constant([] as const), weight: Object.keys(keys).length > 8 ? 2 : 1 },
    );
    return member;
  });
  const rule = patterns[0]?.['rule'] as Description | undefined;
  const others = fc.array(fc.tuple(names, rule ? arbitraryValue(rule) : fc.jsonValue()), { maxLength: rule ? 4 : 1 });
  const extra =
    rule || Object.keys(keys).length === 0 ? others : fc.oneof({ arbitrary: fc.constant([]), weight: 5 }, others);
  const many = edges(rules).filter((limit) => limit <= 200);
  const built = fc
    .tuple(fc.tuple(...fields), extra, fc.boolean())
    .map(([own, more, isReversed]) =>
      toObject(isReversed ? [...more, ...own.flat().reverse()] : [...own.flat(), ...more]),
    );
  return many.length === 0
    ? built
    : fc.oneof(
        { arbitrary: built, weight: 8 },
        fc.constantFrom(...many).map((size) => toObject(Array.from({ length: size }, (_, i) => [`k${i}`, 'v']))),
      );
}

/** As `JSON.parse` would: `__proto__` becomes a field. */
function toObject(members: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [name, value] of members) {
    Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return made;
}

/** The prototype of the router's parameters. */
const bare = Object.create(null) as object;

/** Valid, nearly valid and hostile requests of an endpoint. */
export function arbitraryRequests({ params, query, body }: Endpoint): fc.Arbitrary<RawRequest> {
  const describe = (schema: Joi.Schema) => schema.describe() as Description;
  const path = arbitraryObject({ keys: describe(Joi.object(params)).keys ?? {} });
  return fc.record({
    params: path.map((sent) => Object.assign(Object.create(bare) as object, sent)),
    query: query ? arbitraryObject(describe(query)) : fc.constantFrom({}, { a: '1' }),
    body: body
      ? fc.oneof({ arbitrary: arbitraryObject(describe(body)), weight: 20 }, { arbitrary: hostile, weight: 1 })
      : fc.constantFrom<unknown>(undefined, {}, { a: 1 }),
  });
}
