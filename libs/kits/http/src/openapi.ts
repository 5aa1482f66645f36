import { errorCodes, findWireForm, wireForms, type Endpoint, type ErrorCode } from '@svc/contract';
import type Joi from 'joi';

type Json = Record<string, unknown>;

export interface ApiInfo {
  title: string;
  version: string;
  description?: string;
}

/**
 * The OpenAPI 3.1 document of a list of endpoints. Joi generates the schemas; rules it cannot express are in the
 * descriptions.
 */
export function openapi(endpoints: readonly Endpoint[], info: ApiInfo): Json {
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method]: operation(endpoint) };
  }
  return { openapi: '3.1.0', info, servers: [{ url: '/' }], paths, components };
}

const components: Json = {
  securitySchemes: {
    apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    bearer: { type: 'http', scheme: 'bearer', description: 'A JWT, or the session token of a sign-in.' },
    session: { type: 'apiKey', in: 'cookie', name: 'svc_session' },
    scim_token: { type: 'http', scheme: 'bearer', description: 'The SCIM token of the installation.' },
  },
  parameters: {
    tenant: {
      name: 'X-Tenant-ID',
      in: 'header',
      required: false,
      schema: { type: 'string' },
      description: 'Tenant to act for; defaults to the tenant of the credential.',
    },
  },
  schemas: {
    ...Object.fromEntries(wireForms.map(({ errorSchema: { name, schema } }) => [name, schema])),
    Error: {
      type: 'object',
      required: ['error', 'code', 'status'],
      properties: {
        error: { type: 'string', description: 'Error message for humans.' },
        code: { type: 'string', description: 'Machine-readable error code.' },
        status: { type: 'integer', description: 'The HTTP status again.' },
        violations: {
          type: 'array',
          description: 'Violations by field.',
          items: {
            type: 'object',
            properties: {
              in: { type: 'string', enum: ['path', 'query', 'body', 'header'] },
              field: { type: 'string' },
              path: { type: 'string' },
              message: { type: 'string' },
            },
          },
        },
      },
    },
  },
  headers: {
    RequestId: { description: 'The X-Request-Id of the request, or a generated one.', schema: { type: 'string' } },
  },
};

const eventStream: Json = { 'text/event-stream': { schema: { type: 'string' } } };
const anyBytes: Json = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

const formMedia = 'application/x-www-form-urlencoded';

function operation(endpoint: Endpoint): Json {
  const { id, path, summary, description, access, body, bodyOptional, rawBody, formBody, ownCredential } = endpoint;
  const isPublic = access === 'public';
  return {
    operationId: id,
    tags: [id.split('.')[0]],
    summary,
    ...(description && { description }),
    ...(ownCredential
      ? { security: [{ [ownCredential]: [] }] }
      : isPublic
        ? { security: [] }
        : { security: [{ apiKey: [] }, { bearer: [] }, { session: [] }] }),
    'x-access': access,
    parameters: buildParameters(endpoint, isPublic),
    ...(rawBody && { requestBody: { required: true, content: anyBytes } }),
    ...(body && {
      requestBody: {
        required: !bodyOptional,
        content: { [formBody ? formMedia : getMediaType(path)]: { schema: toJsonSchema(body, 'input') } },
      },
    }),
    responses: buildResponses(endpoint),
  };
}

function buildParameters({ params, query }: Endpoint, isPublic: boolean): Json[] {
  const path = Object.entries<Joi.Schema>(params).map(([name, schema]) => ({
    name,
    in: 'path',
    required: true,
    schema: toJsonSchema(schema, 'input'),
  }));
  const names = Object.entries(
    (query?.describe() as { keys?: Record<string, JoiDescription> } | undefined)?.keys ?? {},
  );
  const queries = names.flatMap(([name, { flags }]) =>
    query
      ? [
          {
            name,
            in: 'query',
            required: flags?.presence === 'required',
            schema: toJsonSchema(query.extract(name), 'input'),
            ...(flags?.description && { description: flags.description }),
          },
        ]
      : [],
  );
  return [...path, ...queries, ...(isPublic ? [] : [{ $ref: '#/components/parameters/tenant' }])];
}

interface JoiDescription {
  flags?: { presence?: string; description?: string };
}

const titles: Readonly<Record<number, string>> = { 101: 'WebSocket', 302: 'Redirect' };

function buildResponses(endpoint: Endpoint): Json {
  const { path, answer, otherAnswers = {} } = endpoint;
  const own = Object.entries(answer.headers ?? {}).map(([name, text]) => [
    name,
    { description: text, schema: { type: 'string' } },
  ]);
  const buildResponse = (description: string, schema: Joi.Schema | undefined, media?: string): Json => ({
    description,
    headers: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' }, ...Object.fromEntries(own) },
    ...(answer.events && { content: eventStream }),
    ...(answer.stream && {
      content: Object.fromEntries(answer.stream.map((type) => [type, { schema: { type: 'string' } }])),
    }),
    ...(schema && {
      content: answer.raw ? anyBytes : { [media ?? getMediaType(path)]: { schema: toJsonSchema(schema, 'output') } },
    }),
  });
  const others = Object.entries(otherAnswers).map(([status, { description, body, media }]) => [
    status,
    buildResponse(description, status === '304' || status === '302' ? body : (body ?? answer.body), media),
  ]);
  return {
    [answer.status]: buildResponse(titles[answer.status] ?? 'Success', answer.body, answer.media),
    ...errorResponses(endpoint),
    ...Object.fromEntries(others),
  };
}

/** Error codes of checks that run before the handler, on every route. */
function gateErrors({ access, unlimited, tooLarge = 'request_too_large' }: Endpoint): ErrorCode[] {
  return [
    'invalid_body',
    // A route without a body reads and rejects one.
    'invalid_json',
    tooLarge,
    // A body over the limit of the license.
    'tier_limit_exceeded',
    'unsupported_media_type',
    ...(access === 'public'
      ? []
      : ([
          'unauthorized',
          'access_denied',
          'key_scope_insufficient',
          'tenant_access_denied',
          'tenant_id_required',
          'tenant_suspended',
        ] as const)),
    ...(unlimited ? [] : (['rate_limited'] as const)),
    'origin_not_allowed',
    'internal_error',
    'service_unavailable',
  ];
}

function errorResponses(endpoint: Endpoint): Json {
  const codes = [
    ...new Set([...gateErrors(endpoint), ...Object.values(endpoint.violationCodes ?? {}), ...endpoint.errors]),
  ];
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = errorCodes[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries([...byStatus].map(([status, group]) => [status, errorResponse(endpoint, group)]));
}

const getMediaType = (path: string): string => findWireForm(path)?.mediaType ?? 'application/json';

function errorResponse({ path }: Endpoint, codes: readonly ErrorCode[]): Json {
  const spelled = codes.map((code) => {
    const { text, code: written }: { text: string; code?: string } = errorCodes[code];
    return { text, written: written ?? code };
  });
  const code = { enum: spelled.map(({ written }) => written) };
  const form = findWireForm(path);
  const ownSchema = { allOf: [{ $ref: '#/components/schemas/Error' }, { type: 'object', properties: { code } }] };
  return {
    description: spelled.map(({ text, written }) => `\`${written}\`: ${text}`).join('\n\n'),
    content: {
      [getMediaType(path)]: { schema: form ? { $ref: `#/components/schemas/${form.errorSchema.name}` } : ownSchema },
    },
  };
}

/** Joi's own converter, in draft 2020-12, which is the dialect of OpenAPI 3.1. */
function toJsonSchema(schema: Joi.Schema, mode: 'input' | 'output'): Json {
  const standard = (schema as unknown as { '~standard': { jsonSchema: Record<typeof mode, Convert> } })['~standard'];
  return standard.jsonSchema[mode]({ target: 'draft-2020-12' });
}
type Convert = (options: { target: 'draft-2020-12' }) => Json;
