import { AppError, type Endpoint } from '@svc/contract';
import type Joi from 'joi';
import assert from 'node:assert/strict';

/** A test case of an endpoint. */
export interface EndpointCase {
  name: string;
  run(): Promise<void>;
}

/** The service under test. */
export interface CaseWorld {
  send(request: {
    method: string;
    path: string;
    headers: Readonly<Record<string, string>>;
    body?: string;
  }): Promise<{ status: number; body: unknown }>;
  /** Headers of a caller with permission. */
  able(endpoint: Endpoint): Readonly<Record<string, string>>;
  /** Headers of a caller without permission; undefined when every caller has it. */
  unable(endpoint: Endpoint): Readonly<Record<string, string>> | undefined;
  /** Limit of an endpoint's body, in bytes. */
  bodyLimit(endpoint: Endpoint): number;
}

/**
 * Test cases derived from the declaration of an endpoint: 401 without credentials, 403 without permission, 400 that
 * names the field for each body field, 400 for a number, boolean, object or list that is sent as text, 400 for an unknown
 * field and for a body of `null`, 413 for a body over its limit. No case needs an existing record: authorization and
 * validation run before any lookup.
 */
export function endpointCases(endpoints: readonly Endpoint[], world: CaseWorld): EndpointCase[] {
  return endpoints.flatMap((endpoint) => [
    ...(endpoint.access === 'public'
      ? []
      : [withoutCredentials(endpoint, world), ...withoutPermission(endpoint, world)]),
    ...bodyCases(endpoint, world),
  ]);
}

const title = ({ method, path }: Endpoint) => `${method.toUpperCase()} ${path}`;
const target = ({ path }: Endpoint) => path.replace(/:\w+/g, 'nothing-of-that-name');

type CaseResponse = { status: number; body: unknown };

function expectError(
  { status, body }: CaseResponse,
  expected: number,
  codes: readonly string[],
): Record<string, unknown> {
  const error = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  assert.equal(status, expected, `answered ${status} ${JSON.stringify(body)}`);
  assert.equal(error['status'], expected, 'the body repeats the status');
  assert.ok(codes.includes(String(error['code'])), `code ${String(error['code'])} is not one of ${codes.join(', ')}`);
  return error;
}

function withoutCredentials(endpoint: Endpoint, { send }: CaseWorld): EndpointCase {
  return {
    name: `${title(endpoint)} 401: no credentials`,
    run: async () => {
      const answer = await send({ method: endpoint.method, path: target(endpoint), headers: {} });
      expectError(answer, 401, ['unauthorized']);
    },
  };
}

function withoutPermission(endpoint: Endpoint, { send, unable }: CaseWorld): EndpointCase[] {
  const headers = unable(endpoint);
  if (!headers) return [];
  const run = async () => {
    expectError(await send({ method: endpoint.method, path: target(endpoint), headers }), 403, ['access_denied']);
  };
  return [{ name: `${title(endpoint)} 403: a caller without the permission`, run }];
}

function bodyCases(endpoint: Endpoint, world: CaseWorld): EndpointCase[] {
  const { body, bodyIgnoresUnknown, signedUrl, ownCredential } = endpoint;
  // These credentials are verified before the body is read, and no caller of the tests has one.
  if (!body || signedUrl || ownCredential) return [];
  if (endpoint.formBody) return formCases(endpoint, world);
  const described = Object.keys((body.describe() as { keys?: Record<string, unknown> }).keys ?? {});
  const send = (text: string) =>
    world.send({
      method: endpoint.method,
      path: target(endpoint),
      headers: { ...world.able(endpoint), 'Content-Type': 'application/json' },
      body: text,
    });

  const fields = described.flatMap((field) => {
    const wrong = wrongValue(body.extract(field));
    if (wrong === undefined) return [];
    const run = async () => {
      const answer = await send(JSON.stringify({ [field]: wrong }));
      const violations = expectError(answer, 400, getCodes(endpoint))['violations'] as {
        field: string;
        message: string;
      }[];
      assert.ok(
        violations.some((violation) => violation.field === field && violation.message !== ''),
        `no violation names ${field}: ${JSON.stringify(violations)}`,
      );
    };
    return [{ name: `${title(endpoint)} 400: a bad ${field} is named`, run }];
  });

  const texts = typedFields(body.describe()).map(({ path, text }) => ({
    name: `${title(endpoint)} 400: ${path.join('.')} is not made of text`,
    run: async () => {
      const answer = await send(JSON.stringify(nested(path, text)));
      const violations = expectError(answer, 400, getCodes(endpoint))['violations'] as { path: string }[];
      const expected = path.join('.').replaceAll('.0', '[0]');
      assert.ok(
        violations.some((violation) => violation.path === expected),
        `no violation names ${expected}: ${JSON.stringify(violations)}`,
      );
    },
  }));
  const nothing = {
    name: `${title(endpoint)} 400: a body of null`,
    run: async () => void expectError(await send('null'), 400, ['invalid_body']),
  };
  const unknown = {
    name: `${title(endpoint)} 400: a field it does not know`,
    run: async () => {
      const error = expectError(await send('{"no_such_field":1}'), 400, ['invalid_json']);
      assert.match(JSON.stringify(error['violations']), /no_such_field/);
    },
  };
  const garbled = {
    name: `${title(endpoint)} 400: not JSON`,
    run: async () => void expectError(await send('{"a":'), 400, ['invalid_json']),
  };
  const large = {
    name: `${title(endpoint)} 413: a body beyond the limit`,
    run: async () => {
      const limitBytes = world.bodyLimit(endpoint);
      const { code } = new AppError(endpoint.tooLarge ?? 'request_too_large').toBody();
      const error = expectError(await send(`"${'x'.repeat(limitBytes)}"`), 413, [code]);
      assert.equal(error['limit_bytes'], limitBytes);
    },
  };
  const refusesUnknown = !bodyIgnoresUnknown && !allowsUnknown(body);
  return [...fields, ...texts, nothing, ...(refusesUnknown ? [unknown] : []), garbled, large];
}

function formCases(endpoint: Endpoint, world: CaseWorld): EndpointCase[] {
  const send = (type: string, body: string) =>
    world.send({
      method: endpoint.method,
      path: target(endpoint),
      headers: { ...world.able(endpoint), 'Content-Type': type },
      body,
    });
  const form = 'application/x-www-form-urlencoded';
  const json = {
    name: `${title(endpoint)} 415: JSON instead of a form`,
    run: async () => void expectError(await send('application/json', '{}'), 415, ['unsupported_media_type']),
  };
  const large = {
    name: `${title(endpoint)} 413: a form beyond the limit`,
    run: async () => {
      const { code } = new AppError(endpoint.tooLarge ?? 'request_too_large').toBody();
      expectError(await send(form, `a=${'x'.repeat(world.bodyLimit(endpoint))}`), 413, [code]);
    },
  };
  return [json, large];
}

/** Error codes for violations in a body. */
const getCodes = ({ violationCodes = {} }: Endpoint): string[] => [
  ...new Set(Object.values(violationCodes).map((code) => new AppError(code).toBody().code)),
  'invalid_body',
];

interface JoiDescription {
  type?: string;
  keys?: Record<string, JoiDescription>;
  items?: JoiDescription[];
}
/** Texts that a lenient parser would convert to each type. */
const lenientTexts: Readonly<Record<string, string>> = { number: '1', boolean: 'true', object: '{}', array: '[]' };

/** Fields that are not text, at any depth, each with a text that resembles its type. */
const typedFields = (
  { keys = {}, items = [] }: JoiDescription,
  at: readonly string[] = [],
): { path: string[]; text: string }[] =>
  [...Object.entries(keys), ...items.slice(0, 1).map((item) => ['0', item] as const)].flatMap(([name, field]) => {
    const path = [...at, name];
    const text = lenientTexts[field.type ?? ''];
    return [...(text === undefined ? [] : [{ path, text }]), ...typedFields(field, path)];
  });

const nested = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight<unknown>((inner, name) => (name === '0' ? [inner] : { [name]: inner }), value);

const allowsUnknown = (schema: Joi.Schema): boolean => {
  const { flags, keys } = schema.describe() as { flags?: { unknown?: boolean }; keys?: object };
  return flags?.unknown === true || keys === undefined;
};

/** A value that the schema rejects, other than for an unknown field; undefined for fields that accept any JSON. */
const wrongValue = (schema: Joi.Schema): unknown =>
  [{ no_such_field: {} }, [[[]]], -1.5, true, null].find((value) => {
    const { error } = schema.validate(value, { abortEarly: false });
    return error !== undefined && error.details.every(({ type }) => type !== 'object.unknown');
  });
