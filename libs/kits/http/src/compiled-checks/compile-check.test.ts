import { AppError, endpoints, type Endpoint, getJob, submitJob } from '@svc/contract';
import fc from 'fast-check';
import Joi from 'joi';
import assert from 'node:assert/strict';
import { createValidator, type Validate } from '../validation';
import { compileCheck } from './compile-check';
import { undecided } from './description';
import { arbitraryRequests, type RawRequest } from './requests.testing';

/** The validated request, or the error response. */
function runCheck(validate: Validate, raw: RawRequest): unknown {
  try {
    return { checked: validate(raw) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { refused: error.toBody() };
  }
}

/** `undecided` of a schema that is not compiled. */
const check = (schema: Joi.Schema, value: unknown): unknown => compileCheck(schema)?.(value) ?? undecided;

describe('compiled validation', () => {
  it.each((endpoints as readonly Endpoint[]).map((endpoint) => [endpoint.id, endpoint] as const))(
    '%s: the same verdict, value and errors as Joi alone',
    (_, endpoint) => {
      const compiled = createValidator(endpoint);
      const joiAlone = createValidator(endpoint, () => undefined);
      fc.assert(
        fc.property(arbitraryRequests(endpoint), (raw) => {
          const before = structuredClone(raw.body);
          const actual = runCheck(compiled, raw);
          const expected = runCheck(joiAlone, raw);
          assert.deepStrictEqual(actual, expected);
          // The order of fields is part of a stored document.
          assert.equal(JSON.stringify(actual), JSON.stringify(expected));
          assert.deepStrictEqual(structuredClone(raw.body), before, 'the request is not changed');
        }),
        { numRuns: 150 },
      );
    },
  );

  it('leaves only rarely used schemas to Joi: with dependent fields, hexadecimal text or filled defaults', () => {
    // Support the rule of a schema that is used often; list any other here.
    const left = (endpoints as readonly Endpoint[]).flatMap(({ id, params, query, body }) =>
      [Joi.object(params), query, body].some((schema) => schema && !compileCheck(schema)) ? [id] : [],
    );

    expect(left).toEqual([
      'keys.create', 'users.create', 'users.update', 'workers.createCredential', 'policy.putBundle', 'policy.addVelocityRule', 'policy.putVelocityRule', 'schedules.add', 'schedules.put', 'sso.putGroupMapping',
    ]); // prettier-ignore
  });

  it('accepts a submission and a read without Joi', () => {
    const decided: boolean[] = [];
    const watched = (schema: Joi.Schema) => {
      const compiled = compileCheck(schema);
      return (value: unknown) => {
        const checked = compiled ? compiled(value) : undecided;
        decided.push(checked !== undecided);
        return checked;
      };
    };
    const body = { topic: 'job.demo', prompt: 'hello', labels: { team: 'a' }, tags: ['x'], unknown: 1 };

    createValidator(submitJob, watched)({ params: {}, query: {}, body });
    createValidator(getJob, watched)({ params: { id: 'j1' }, query: { wait_ms: '20000' }, body: undefined });

    expect(decided).toEqual([true, true, true]);
  });
});

describe('compileCheck', () => {
  const other = Joi.ref('other');
  it.each<[string, Joi.Schema]>([
    ['alternatives', Joi.alternatives(Joi.string(), Joi.number())],
    ['a condition', Joi.string().when('other', { is: 1, then: Joi.required() })],
    ['a reference', Joi.object({ other: Joi.number(), value: Joi.number().max(other) })],
    ['dependent fields', Joi.object({ a: Joi.any(), b: Joi.any() }).xor('a', 'b')],
    ['renamed fields', Joi.object({ a: Joi.any() }).rename('b', 'a')],
    ['a forbidden field', Joi.object({ a: Joi.forbidden() })],
    ['a removed field', Joi.object({ a: Joi.any().strip() })],
    ['a field of Object.prototype', Joi.object({ constructor: Joi.any() })],
    ['a list of several schemas', Joi.array().items(Joi.string(), Joi.number())],
    ['a required item', Joi.array().items(Joi.string().required())],
    ['a sparse list', Joi.array().items(Joi.string()).sparse()],
    ['a forbidden value', Joi.string().invalid('x')],
    ['an inverted pattern', Joi.string().pattern(/a/, { invert: true })],
    ['a length in bytes', Joi.string().max(3, 'utf8')],
    ['trim as a test', Joi.string().trim().prefs({ convert: false })],
    ['a default function', Joi.string().default(() => 'x')],
    ['a filled default object', Joi.object().default({ a: 1 })],
    ['a failover', Joi.number().failover(1)],
    ['a cast', Joi.number().cast('string')],
    ['an unsafe number', Joi.number().unsafe()],
    ['a rounded number', Joi.number().precision(2)],
    ['a warning', Joi.number().max(3).warn()],
    ['an empty schema', Joi.string().empty(Joi.string().min(3))],
    ['letter case', Joi.string().lowercase()],
    ['an external rule', Joi.string().external(async () => undefined)],
  ])('leaves %s to Joi', (_, schema) => {
    expect(compileCheck(schema)).toBeUndefined();
  });

  const word = (value: unknown, { error }: Joi.CustomHelpers) => (value === 'x' ? error('any.invalid') : `${value}!`);
  const strict = Joi.object({ n: Joi.number(), in: Joi.object({ s: Joi.string() }) }).prefs({ convert: false });
  it.each<[string, Joi.Schema, unknown]>([
    ['a default inside a list', Joi.array().items(Joi.object({ a: Joi.number().default(1) })), [{}, { a: 2 }]],
    [
      'an empty text with its default',
      Joi.object({ b: Joi.any(), a: Joi.string().empty('').default('d') }),
      { a: '', b: 1 },
    ],
    ['an empty text without default', Joi.object({ a: Joi.string().empty('') }), { a: '' }],
    ['unknown fields inside', strict.prefs({ stripUnknown: true }), { n: 1, x: 1, in: { s: 'a', y: 2 } }],
    ['unknown fields that are kept', Joi.object({ a: Joi.number() }).unknown(), { z: [1], a: 1 }],
    ['trimmed text', Joi.string().trim().min(1), ' a '],
    ['text of no length', Joi.string().min(0), ''],
    ['an exact length', Joi.object({ a: Joi.string().length(2), b: Joi.array().length(1) }), { a: 'ab', b: [null] }],
    ['minus zero', Joi.number(), -0],
    ['a number in text', Joi.number().integer().min(0), '120'],
    ['a function', Joi.any().custom(word), 'y'],
    [
      'a function that gives no value',
      Joi.any()
        .custom(() => undefined)
        .default(7),
      'y',
    ],
    [
      'fields by pattern',
      Joi.object().pattern(/^a/, Joi.number()).pattern(/^b/, Joi.string()).min(2),
      { a1: 1, b1: 'x' },
    ],
  ])('accepts %s as Joi does', (_, schema, value) => {
    const accepted = check(schema, value);

    assert.deepStrictEqual(accepted, Joi.attempt(value, schema));
  });

  it.each<[string, Joi.Schema, unknown]>([
    ['a function that reports an error', Joi.any().custom(word), 'x'],
    ['a function that throws', Joi.any().custom(() => assert.fail('no')), 'y'],
    [
      'a function with other helpers',
      Joi.any().custom((_value, { original }: Joi.CustomHelpers) => original as string),
      'y',
    ],
    ['__proto__', Joi.object().pattern(/.*/, Joi.any()), JSON.parse('{"__proto__":1}')],
    ['an instance of a class', Joi.object({ a: Joi.any() }), new (class { a = 1; })()], // prettier-ignore
    ['a list with a hole', Joi.array().items(Joi.any()), Array(1)],
    ['an unsafe integer', Joi.number(), 2 ** 53],
    ['a number in another spelling', Joi.number(), '1e3'],
    ['a boolean in text', Joi.boolean(), 'true'],
    ['too many fields', Joi.object().pattern(/.*/, Joi.any()).max(1), { a: 1, b: 2 }],
    ['an unknown field', Joi.object({ a: Joi.any() }), { b: 1 }],
    ['a missing field', Joi.object({ a: Joi.any().required() }), {}],
    ['a value that is not listed', Joi.string().valid('a', 'b'), 'c'],
  ])('leaves %s to Joi when it is sent', (_, schema, value) => {
    expect(compileCheck(schema)).toBeDefined();
    expect(check(schema, value)).toBe(undecided);
  });
});
