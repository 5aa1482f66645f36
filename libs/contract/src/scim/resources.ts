import Joi from 'joi';
import { endpoint } from '../endpoint';
import { text } from '../fields';
import { shape } from '../shape';
import { scimForm } from './scim-form';

/*
 * The routes of SCIM 2.0. Attribute names in bodies are read in any case and unknown attributes are ignored, as the protocol
 * wants it, so the handlers check bodies with the tables that /Schemas publishes.
 */

const base = scimForm.basePath;

const common = { access: 'public', ownCredential: 'scim_token', owner: 'installation' } as const;
const id = Joi.string().min(1).max(256).description('Id of the resource.');
const urn = Joi.string().min(1).max(256).description('Id of the description.');
const refusals = ['unauthorized', 'tier_limit_exceeded', 'scim_not_configured', 'store_unavailable'] as const;
const faults = ['scim_invalid_syntax', 'scim_invalid_value'] as const;
const changes = [...refusals, ...faults, 'scim_uniqueness', 'scim_conflict'] as const;
const existing = ['scim_resource_not_found', 'scim_version_mismatch'] as const;

/** A resource, or the part of it that was asked for. */
export type ScimResource = Record<string, unknown>;
const resource = (description: string): Joi.ObjectSchema<ScimResource> =>
  Joi.object({ schemas: Joi.array().items(Joi.string()), id: Joi.string() })
    .unknown()
    .description(description);
const user = resource('The user, as /Schemas describes it.');
const group = resource('The group, as /Schemas describes it.');

export interface ScimList {
  schemas: string[];
  totalResults: number;
  startIndex: number;
  itemsPerPage: number;
  Resources: ScimResource[];
}
const list = shape<ScimList>({
  required: {
    schemas: Joi.array().items(Joi.string()),
    totalResults: Joi.number().integer().description('Number of resources on all pages.'),
    startIndex: Joi.number().integer().description('Place of the first one of this page, from 1.'),
    itemsPerPage: Joi.number().integer().description('Number of resources on this page.'),
    Resources: Joi.array().items(Joi.object().unknown()),
  },
});

const sentBody = (fields: Joi.SchemaMap<ScimResource>) =>
  Joi.object<ScimResource>({ schemas: Joi.any().description('Schemas of the body.'), ...fields }).unknown();
const userBody = sentBody({
  userName: Joi.any().description('Required.'),
  externalId: Joi.any(),
  displayName: Joi.any(),
  name: Joi.any().description('`{formatted, familyName, givenName}`.'),
  emails: Joi.any().description('`[{value, type, primary}]`.'),
  active: Joi.any().description('Default true.'),
  roles: Joi.any().description('`[{value, display}]`; default viewer.'),
});
const groupBody = sentBody({
  displayName: Joi.any().description('Required.'),
  externalId: Joi.any(),
  members: Joi.any().description('`[{value}]` with ids of users.'),
});
const patchBody = sentBody({
  Operations: Joi.any().description('`[{op, path, value}]`; op is add, replace or remove.'),
});
const searchBody = sentBody({
  filter: Joi.any(),
  attributes: Joi.any().description('List of attribute names.'),
  excludedAttributes: Joi.any().description('List of attribute names.'),
  sortBy: Joi.any(),
  sortOrder: Joi.any(),
  startIndex: Joi.any(),
  count: Joi.any(),
});
const bulkBody = sentBody({
  Operations: Joi.any().description('`[{method, path, bulkId, version, data}]`.'),
  failOnErrors: Joi.any().description('Number of errors after which the rest is not executed.'),
});

/** Which attributes of resources are returned. */
export interface ScimProjection {
  attributes?: string;
  excludedAttributes?: string;
}
export interface ScimListQuery extends ScimProjection {
  filter?: string;
  startIndex?: number;
  count?: number;
  sortBy?: string;
  sortOrder?: string;
}

const projected = {
  attributes: text('Comma-separated names of the only attributes to return.').max(2_048),
  excludedAttributes: text('Comma-separated names of attributes to leave out.').max(2_048),
};
const projection = shape<ScimProjection>({ required: {}, optional: projected });
const listQuery = shape<ScimListQuery>({
  required: {},
  optional: {
    ...projected,
    filter: text('Filter, such as `userName eq "ada"`.').max(4_096),
    startIndex: Joi.number().integer().description('Place of the first resource of the page, from 1. Default 1.'),
    count: Joi.number().integer().description('Page size, at most 200. Default 100.'),
    sortBy: text('Attribute to sort by.').max(256),
    sortOrder: text('`ascending` or `descending`, in any case. Default ascending.').max(16),
  },
});

const versioned = { ETag: 'Version of the resource, for If-Match and If-None-Match.' };
const created = { ...versioned, Location: 'URL of the resource.' };
const unchanged = { 304: { description: 'The resource has the version of If-None-Match.' } } as const;
const withFilter = [...refusals, ...faults, 'scim_invalid_filter'] as const;
const patchFaults = ['scim_invalid_filter', 'scim_invalid_path', 'scim_mutability', 'scim_no_target'] as const;

export const getScimConfig = endpoint({
  ...common,
  id: 'scim.config',
  method: 'get',
  path: `${base}/ServiceProviderConfig`,
  summary: 'SCIM: what this service supports',
  params: {},
  answer: { status: 200, body: resource('Supported parts of the protocol.') },
  errors: refusals,
});
export const listScimSchemas = endpoint({
  ...common,
  id: 'scim.schemas',
  method: 'get',
  path: `${base}/Schemas`,
  summary: 'SCIM: attributes of all types of resources',
  params: {},
  answer: { status: 200, body: list },
  errors: refusals,
});
export const getScimSchema = endpoint({
  ...common,
  id: 'scim.schema',
  method: 'get',
  path: `${base}/Schemas/:id`,
  summary: 'SCIM: attributes of a type of resources',
  params: { id: urn },
  answer: { status: 200, body: resource('The schema.') },
  errors: [...refusals, 'scim_resource_not_found'],
});
export const listScimResourceTypes = endpoint({
  ...common,
  id: 'scim.resourceTypes',
  method: 'get',
  path: `${base}/ResourceTypes`,
  summary: 'SCIM: types of resources',
  params: {},
  answer: { status: 200, body: list },
  errors: refusals,
});
export const getScimResourceType = endpoint({
  ...common,
  id: 'scim.resourceType',
  method: 'get',
  path: `${base}/ResourceTypes/:id`,
  summary: 'SCIM: a type of resources',
  params: { id: urn },
  answer: { status: 200, body: resource('The type.') },
  errors: [...refusals, 'scim_resource_not_found'],
});

export const listScimUsers = endpoint({
  ...common,
  id: 'scim.listUsers',
  method: 'get',
  path: `${base}/Users`,
  summary: 'SCIM: users that were created through SCIM',
  params: {},
  query: listQuery,
  answer: { status: 200, body: list },
  errors: withFilter,
});
export const createScimUser = endpoint({
  ...common,
  id: 'scim.createUser',
  audit: 'self',
  method: 'post',
  path: `${base}/Users`,
  summary: 'SCIM: create a user',
  params: {},
  query: projection,
  body: userBody,
  answer: { status: 201, body: user, headers: created },
  errors: changes,
});
export const getScimUser = endpoint({
  ...common,
  id: 'scim.getUser',
  method: 'get',
  path: `${base}/Users/:id`,
  summary: 'SCIM: a user',
  params: { id },
  query: projection,
  answer: { status: 200, body: user, headers: versioned },
  otherAnswers: unchanged,
  errors: [...refusals, 'scim_invalid_value', 'scim_resource_not_found'],
});
export const putScimUser = endpoint({
  ...common,
  id: 'scim.putUser',
  audit: 'self',
  method: 'put',
  path: `${base}/Users/:id`,
  summary: 'SCIM: replace the attributes of a user',
  params: { id },
  query: projection,
  body: userBody,
  answer: { status: 200, body: user, headers: versioned },
  errors: [...changes, ...existing],
});
export const patchScimUser = endpoint({
  ...common,
  id: 'scim.patchUser',
  audit: 'self',
  method: 'patch',
  path: `${base}/Users/:id`,
  summary: 'SCIM: change attributes of a user',
  params: { id },
  query: projection,
  body: patchBody,
  answer: { status: 200, body: user, headers: versioned },
  errors: [...changes, ...existing, ...patchFaults],
});
export const deleteScimUser = endpoint({
  ...common,
  id: 'scim.deleteUser',
  audit: 'self',
  method: 'delete',
  path: `${base}/Users/:id`,
  summary: 'SCIM: disable a user',
  description: 'The record is kept. The sessions of the user end at once. See docs/reference/scim.md#deactivation.',
  params: { id },
  answer: { status: 204 },
  errors: [...refusals, ...existing, 'scim_conflict'],
});
export const searchScimUsers = endpoint({
  ...common,
  id: 'scim.searchUsers',
  audit: 'none',
  method: 'post',
  path: `${base}/Users/.search`,
  summary: 'SCIM: search users, with the query in the body',
  params: {},
  body: searchBody,
  answer: { status: 200, body: list },
  errors: withFilter,
});

export const listScimGroups = endpoint({
  ...common,
  id: 'scim.listGroups',
  method: 'get',
  path: `${base}/Groups`,
  summary: 'SCIM: groups',
  params: {},
  query: listQuery,
  answer: { status: 200, body: list },
  errors: withFilter,
});
export const createScimGroup = endpoint({
  ...common,
  id: 'scim.createGroup',
  audit: 'self',
  method: 'post',
  path: `${base}/Groups`,
  summary: 'SCIM: create a group',
  params: {},
  query: projection,
  body: groupBody,
  answer: { status: 201, body: group, headers: created },
  errors: changes,
});
export const getScimGroup = endpoint({
  ...common,
  id: 'scim.getGroup',
  method: 'get',
  path: `${base}/Groups/:id`,
  summary: 'SCIM: a group',
  params: { id },
  query: projection,
  answer: { status: 200, body: group, headers: versioned },
  otherAnswers: unchanged,
  errors: [...refusals, 'scim_invalid_value', 'scim_resource_not_found'],
});
export const putScimGroup = endpoint({
  ...common,
  id: 'scim.putGroup',
  audit: 'self',
  method: 'put',
  path: `${base}/Groups/:id`,
  summary: 'SCIM: replace the attributes of a group',
  params: { id },
  query: projection,
  body: groupBody,
  answer: { status: 200, body: group, headers: versioned },
  errors: [...changes, ...existing],
});
export const patchScimGroup = endpoint({
  ...common,
  id: 'scim.patchGroup',
  audit: 'self',
  method: 'patch',
  path: `${base}/Groups/:id`,
  summary: 'SCIM: change attributes of a group',
  params: { id },
  query: projection,
  body: patchBody,
  answer: { status: 200, body: group, headers: versioned },
  errors: [...changes, ...existing, ...patchFaults],
});
export const deleteScimGroup = endpoint({
  ...common,
  id: 'scim.deleteGroup',
  audit: 'self',
  method: 'delete',
  path: `${base}/Groups/:id`,
  summary: 'SCIM: remove a group',
  description: 'Its members get the role of their other groups, else viewer.',
  params: { id },
  answer: { status: 204 },
  errors: [...refusals, ...existing, 'scim_conflict'],
});
export const searchScimGroups = endpoint({
  ...common,
  id: 'scim.searchGroups',
  audit: 'none',
  method: 'post',
  path: `${base}/Groups/.search`,
  summary: 'SCIM: search groups, with the query in the body',
  params: {},
  body: searchBody,
  answer: { status: 200, body: list },
  errors: withFilter,
});
export const searchScim = endpoint({
  ...common,
  id: 'scim.search',
  audit: 'none',
  method: 'post',
  path: `${base}/.search`,
  summary: 'SCIM: search users and groups',
  params: {},
  body: searchBody,
  answer: { status: 200, body: list },
  errors: withFilter,
});

export interface ScimBulkResult {
  schemas: string[];
  Operations: {
    method: string;
    bulkId?: string;
    location?: string;
    version?: string;
    status: string;
    response?: ScimResource;
  }[];
}

export const bulkScim = endpoint({
  ...common,
  id: 'scim.bulk',
  audit: 'self',
  method: 'post',
  path: `${base}/Bulk`,
  summary: 'SCIM: several changes in one request',
  description: 'Operations are executed one by one; each is complete or has no effect.',
  params: {},
  body: bulkBody,
  answer: {
    status: 200,
    body: shape<ScimBulkResult>({
      required: {
        schemas: Joi.array().items(Joi.string()),
        Operations: Joi.array().items(
          shape<ScimBulkResult['Operations'][number]>({
            required: { method: Joi.string(), status: Joi.string().description('HTTP status of the operation.') },
            optional: {
              bulkId: Joi.string(),
              location: Joi.string().description('URL of the resource.'),
              version: Joi.string(),
              response: Joi.object().unknown().description('The error.'),
            },
          }),
        ),
      },
    }),
  },
  errors: [...refusals, ...faults, 'scim_bulk_too_large'],
});

export const scimEndpoints = [
  getScimConfig,
  listScimSchemas,
  getScimSchema,
  listScimResourceTypes,
  getScimResourceType,
  listScimUsers,
  createScimUser,
  getScimUser,
  putScimUser,
  patchScimUser,
  deleteScimUser,
  searchScimUsers,
  listScimGroups,
  createScimGroup,
  getScimGroup,
  putScimGroup,
  patchScimGroup,
  deleteScimGroup,
  searchScimGroups,
  searchScim,
  bulkScim,
] as const;
