import { errorCodes, type Endpoint } from '@svc/contract';
import { openapi } from '@svc/http';
import { hostileJson, hostileText, mutatedBytes, nested } from '@svc/testing';
import fc from 'fast-check';
import type Joi from 'joi';
import { apiInfo } from '../api-info';
import type { WireRequest } from './wire-client.testing';

/** Part of Joi's schema description that value generation needs. */
interface SchemaDescription {
  type?: string;
  flags?: { only?: boolean };
  allow?: unknown[];
  keys?: Record<string, SchemaDescription>;
  rules?: { name: string; args?: { limit?: number } }[];
  items?: SchemaDescription[];
}

const describe = (schema: Joi.Schema | undefined): SchemaDescription => (schema?.describe() ?? {}) as SchemaDescription;
export const getFields = (schema: Joi.Schema | undefined): string[] => Object.keys(describe(schema).keys ?? {});

/** Values that at least one field accepts, tried on each. */
const words = ['x', 'hello', 'job.default', 'job.demo.echo', 'acme', 'human', 'chat', 'batch', 'mem:x', 'short', '1', '2026-11-21T00:00:00Z', 'aGVsbG8=']; // prettier-ignore

const hostileTexts = fc.sample(hostileText, { numRuns: 300, seed: 1 });

/** Values that a field probably accepts. */
function validValue(schema: Joi.Schema): fc.Arbitrary<unknown> {
  const { type, flags, allow = [], items = [] } = describe(schema);
  if (flags?.only) return fc.constantFrom(...allow);
  const takes = (value: unknown) => schema.validate(value, { convert: false }).error === undefined;
  const candidates: unknown[] = [...words, 0, 1, 500, true, false, [], ['a'], {}, { a: 'b' }, { a: 1 }].filter(takes);
  const one = candidates.length > 0 ? fc.constantFrom(...candidates) : hostileJson;
  // Formatted fields, such as times, accept almost no random value: searching for one would not terminate.
  const taken = type === 'string' ? hostileTexts.filter(takes) : [];
  if (taken.length > 0) return fc.oneof({ weight: 4, arbitrary: one }, fc.constantFrom(...taken));
  if (type === 'string') return one;
  if (type === 'array') return fc.oneof(one, fc.array(hostileText, { maxLength: items.length > 0 ? 3 : 0 }));
  return type === 'any' ? fc.oneof(one, hostileJson) : one;
}

/** Values at, just over and far over every limit that a field declares. */
function limitValues({ type, rules = [] }: SchemaDescription): unknown[] {
  const most = rules.find(({ name }) => name === 'max')?.args?.limit;
  if (most === undefined) return [];
  return [most, most + 1, most * 10].flatMap((limit): unknown[] => {
    if (type === 'number') return [limit];
    if (limit > 100_000) return [];
    if (type === 'string') return ['x'.repeat(limit), '\ud800'.repeat(Math.min(limit, 2_000))];
    if (type === 'array') return [Array<string>(limit).fill('x')];
    return [Object.fromEntries(Array.from({ length: limit }, (_, i) => [`k${i}`, 'x']))];
  });
}

function hostileValue(schema: Joi.Schema): fc.Arbitrary<unknown> {
  const limits = limitValues(describe(schema));
  return limits.length > 0 ? fc.oneof(hostileJson, fc.constantFrom(...limits)) : hostileJson;
}

/** A body of valid fields, with some missing and a few invalid. */
function hostileBody(schema: Joi.ObjectSchema): fc.Arbitrary<Record<string, unknown>> {
  const fields = getFields(schema);
  const valid = Object.fromEntries(fields.map((field) => [field, validValue(schema.extract(field))]));
  const replaced = fc
    .constantFrom(...fields)
    .chain((field) => hostileValue(schema.extract(field)).map((value) => ({ [field]: value })));
  const unknownFields = fc.dictionary(hostileText, hostileJson, { maxKeys: 2 });
  return fc
    .tuple(
      fc.record(valid, { requiredKeys: fields.filter((field) => field === 'prompt') }),
      fc.array(fc.oneof({ weight: 4, arbitrary: replaced }, unknownFields), { maxLength: 2 }),
    )
    .map(([good, bad]) => Object.assign({}, good, ...bad) as Record<string, unknown>);
}

const bodyText = (schema: Joi.ObjectSchema | undefined): fc.Arbitrary<Uint8Array | undefined> => {
  const sensible = schema ? hostileBody(schema) : fc.constant({});
  const json = fc.oneof({ weight: 6, arbitrary: sensible }, hostileJson).map((value) => JSON.stringify(value));
  const bytes = json.map((text) => Buffer.from(text));
  return fc.oneof(
    { weight: 6, arbitrary: bytes },
    { weight: 2, arbitrary: mutatedBytes(bytes) },
    { weight: 1, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 40 }) },
    { weight: 1, arbitrary: fc.constantFrom('{"__proto__":{"a":1}}', `{"context":${nested(65)}}`, nested(50_000), '\ufeff{}', '{"a":1,"a":2}', 'null').map((text) => Buffer.from(text)) }, // prettier-ignore
    { weight: 2, arbitrary: fc.constant(undefined) },
  );
};

/** Percent-encodes; a lone surrogate has no UTF-8 form, so clients send the replacement character. */
export const encoded = (value: string): string =>
  encodeURIComponent(Buffer.from(value).toString()).replace(/\./g, '%2E');

const queryText = (schema: Joi.ObjectSchema | undefined): fc.Arbitrary<string> => {
  const names = fc.oneof(fc.constantFrom('x', 'limit', '__proto__', ...getFields(schema)), hostileText);
  const value = fc.oneof(fc.constantFrom(...words, '-1', '501', '1e999'), hostileText);
  const pair = fc.tuple(names, value).map(([name, text]) => `${encoded(name)}=${encoded(text)}`);
  const twice = pair.map((once) => `${once}&${once}`);
  const broken = fc.constantFrom('%', '%ff=1', '=', '&&&', 'a[b]=1', 'limit[]=1', '?', 'a=%zz', '__proto__[x]=1');
  return fc
    .array(fc.oneof({ weight: 5, arbitrary: pair }, twice, broken), { maxLength: 3 })
    .map((all) => all.join('&'));
};

/** Headers that the service reads, with any value that HTTP allows. */
const readHeaders = ['Idempotency-Key', 'X-Idempotency-Key', 'X-Tenant-ID', 'X-Request-Id', 'X-Principal-ID', 'X-Principal-Role', 'X-Max-Artifact-Bytes', 'Content-Type', 'Content-Encoding', 'Accept', 'Authorization', 'Cookie', 'Origin', 'Sec-Fetch-Site', 'X-Forwarded-For', 'X-Forwarded-Host', 'traceparent', 'Range', 'If-Match', 'X-HTTP-Method-Override'] as const; // prettier-ignore
const headerValue = fc.oneof(
  fc.constantFrom('', 'acme', 'globex', '*', 'application/json', 'text/plain', 'gzip', 'Bearer a.b.c', 'Basic !', 'svc_session=x; svc_session=y', 'null', 'http://evil.example', 'x'.repeat(4_000)), // prettier-ignore
  hostileText,
);
const latin1 = (text: string) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '');
const headers = fc
  .dictionary(fc.constantFrom(...readHeaders), headerValue.map(latin1), { maxKeys: 2 })
  // Mostly absent, so that requests pass authorization.
  .chain((some) => fc.constantFrom({}, {}, some));

/** A mostly valid request generated from the declaration of an endpoint. */
export const hostileRequest = (endpoint: Endpoint, ids: readonly string[]): fc.Arbitrary<WireRequest> => {
  const segment = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...ids).map(encoded) },
    hostileText.filter((text) => text !== '').map(encoded),
    fc.constantFrom('%ff', '%2', '%00', '..%2f..', '%2e%2e', '*', 'x'.repeat(5_000)),
  );
  const names = endpoint.path.match(/:\w+/g) ?? [];
  return fc
    .record({
      segments: fc.tuple(...names.map(() => segment)),
      query: queryText(endpoint.query),
      headers,
      body: endpoint.body ? bodyText(endpoint.body) : fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, bodyText(undefined)), // prettier-ignore
      isChunked: fc.boolean(),
    })
    .map(({ segments, query, body, ...rest }) => {
      let nth = 0;
      const path = endpoint.path.replace(/:\w+/g, () => segments[nth++] ?? '');
      return {
        method: endpoint.method.toUpperCase(),
        target: query === '' ? path : `${path}?${query}`,
        ...rest,
        ...(body && { body }),
      };
    });
};

type Responses = Record<string, { content?: { 'application/json'?: { schema: { allOf?: { properties: { code?: { enum: string[] } } }[] } } } }>; // prettier-ignore

/** Declared error codes of an endpoint by status, as in its OpenAPI entry. */
export function documentedCodes(endpoint: Endpoint): ReadonlyMap<number, readonly string[]> {
  const { paths } = openapi([endpoint], apiInfo('1')) as {
    paths: Record<string, Record<string, { responses: Responses }>>;
  };
  const responses = Object.values(paths)[0]?.[endpoint.method]?.responses ?? {};
  return new Map(
    Object.entries(responses).map(([status, { content }]) => {
      const schemas = content?.['application/json']?.schema.allOf ?? [];
      return [Number(status), schemas.flatMap(({ properties }) => properties?.code?.enum ?? [])];
    }),
  );
}

/** Error codes for a path or method without an endpoint. */
export const surfaceCodes: readonly string[] = [errorCodes.not_found, errorCodes.method_not_allowed].map(({ text }) =>
  text.replaceAll(' ', '_'),
);
