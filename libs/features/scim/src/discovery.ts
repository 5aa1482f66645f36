import { AppError, scimForm, type ScimResource } from '@svc/contract';
import { type Attribute, groupSchema, type Json, pageSizes, type ResourceSchema } from '@svc/scim-protocol';
import { BULK_LIMIT } from './bulk/read-bulk';
import { discoverySchemas } from './discovery-schemas';
import type { ScimDeps } from './scim-deps';
import { userSchema } from './users/read-users';

const schemaSchemaId = 'urn:ietf:params:scim:schemas:core:2.0:Schema';
const typeSchemaId = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';
const configSchemaId = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig';

const url = (baseUrl: string, path: string) => `${baseUrl}${scimForm.basePath}${path}`;

/** What this service supports of the protocol. */
export const describeService = ({ settings }: Pick<ScimDeps, 'settings'>, baseUrl: string): ScimResource => ({
  schemas: [configSchemaId],
  patch: { supported: true },
  bulk: { supported: true, maxOperations: BULK_LIMIT, maxPayloadSize: settings.maxBodyBytes },
  filter: { supported: true, maxResults: pageSizes.most },
  changePassword: { supported: false },
  sort: { supported: true },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'SCIM token',
      description: 'The SCIM token of the installation, as a bearer token.',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: url(baseUrl, '/ServiceProviderConfig') },
});

const resourceTypes = [
  { id: 'User', endpoint: '/Users', description: 'Users' },
  { id: 'Group', endpoint: '/Groups', description: 'Groups of users, which determine roles' },
] as const;

export const listResourceTypes = (baseUrl: string): Json[] =>
  resourceTypes.map(({ id, endpoint, description }) => ({
    schemas: [typeSchemaId],
    id,
    name: id,
    endpoint,
    description,
    schema: `urn:ietf:params:scim:schemas:core:2.0:${id}`,
    schemaExtensions: [],
    meta: { resourceType: 'ResourceType', location: url(baseUrl, `/ResourceTypes/${id}`) },
  }));

export const listSchemas = (deps: Pick<ScimDeps, 'roles'>, baseUrl: string): Json[] =>
  [userSchema(deps), groupSchema, ...discoverySchemas].map((schema) => toSchemaResource(schema, baseUrl));

/** @throws scim_resource_not_found */
export function findById(resources: readonly Json[], id: string): ScimResource {
  const found = resources.find((one) => String(one['id']).toLowerCase() === id.toLowerCase());
  if (!found) throw new AppError('scim_resource_not_found');
  return found;
}

const toSchemaResource = ({ id, name, description, attributes }: ResourceSchema, baseUrl: string): Json => ({
  schemas: [schemaSchemaId],
  id,
  name,
  description,
  attributes: attributes.map(toAttributeResource),
  meta: { resourceType: 'Schema', location: url(baseUrl, `/Schemas/${id}`) },
});

const toAttributeResource = (attribute: Attribute): Json => {
  const { name, type, description, canonicalValues, referenceTypes, subAttributes } = attribute;
  const isText = type === 'string' || type === 'reference';
  return {
    name,
    type,
    description,
    multiValued: attribute.multiValued ?? false,
    required: attribute.required ?? false,
    ...(isText && { caseExact: type === 'reference' }),
    mutability: attribute.mutability ?? 'readWrite',
    returned: attribute.returned ?? 'default',
    uniqueness: attribute.uniqueness ?? 'none',
    ...(canonicalValues && { canonicalValues }),
    ...(type === 'reference' && { referenceTypes: referenceTypes ?? ['uri'] }),
    ...(subAttributes && { subAttributes: subAttributes.map(toAttributeResource) }),
  };
};
