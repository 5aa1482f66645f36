import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, pageLimit, strings } from '../fields';
import { shape } from '../shape';

/** See docs/reference/routing.md#schemas. */
export interface SchemaView {
  id: string;
  schema: Record<string, unknown>;
}

const read = { permission: 'schemas.read', roles: ['admin', 'operator', 'viewer'] } as const;
const write = { permission: 'schemas.write', roles: ['admin'] } as const;
const schemaId = Joi.string().min(1).max(256).description('Schema id, such as pack/Name.');
const document = anyObject('JSON Schema, 2020-12 unless $schema says otherwise.');

export const putSchema = endpoint({
  id: 'schemas.put',
  method: 'post',
  path: '/api/v1/schemas',
  summary: 'Register a JSON Schema, or replace it',
  description:
    'The first write sets the owner: the tenant, or the installation for callers of the default tenant. Only the owner can replace it. A $ref resolves to the $id of a schema of the same owner or of the installation; nothing is fetched from the network. Patterns use RE2 syntax.',
  access: write,
  audit: { type: 'governance.config_change', action: 'schema.put', resource: ['schema', 'id'] },
  params: {},
  body: shape<SchemaView>({ required: { id: schemaId.trim().prefs({ convert: true }), schema: document } }),
  violationCodes: { id: 'config_schema_violation', schema: 'config_schema_violation' },
  answer: { status: 204 },
  errors: ['config_schema_violation', 'tenant_access_denied', 'tier_limit_exceeded'],
});

export const listSchemas = endpoint({
  id: 'schemas.list',
  method: 'get',
  path: '/api/v1/schemas',
  summary: 'Ids of the schemas of the tenant and of the installation, newest first',
  access: read,
  params: {},
  query: shape<{ limit: number }>({ required: { limit: pageLimit(100) } }),
  answer: {
    status: 200,
    body: shape<{ schemas: string[] }>({ required: { schemas: strings('Schema ids.') } }),
  },
  errors: [],
});

export const getSchema = endpoint({
  id: 'schemas.get',
  method: 'get',
  path: '/api/v1/schemas/:id',
  summary: 'Read a registered schema',
  access: read,
  params: { id: schemaId },
  otherTenant: 'absent',
  answer: { status: 200, body: shape<SchemaView>({ required: { id: schemaId, schema: document } }) },
  errors: ['config_schema_not_found'],
});

export const removeSchema = endpoint({
  id: 'schemas.remove',
  method: 'delete',
  path: '/api/v1/schemas/:id',
  summary: 'Delete a registered schema that no topic uses',
  access: write,
  audit: { type: 'governance.config_change', action: 'schema.remove', resource: ['schema', 'id'] },
  params: { id: schemaId },
  otherTenant: 'tenant_access_denied',
  answer: { status: 204 },
  errors: ['config_schema_in_use', 'tenant_access_denied'],
});

export const schemaEndpoints = [putSchema, listSchemas, getSchema, removeSchema] as const;
