import type { ScimList, ScimResource } from '@svc/contract';
import {
  commonSchema,
  type Filter,
  findEquality,
  groupSchema,
  isObject,
  type Json,
  matches,
  parseFilter,
  project,
  type Projection,
  readValue,
  type ResourceSchema,
  ScimFault,
  sortResources,
  takePage,
} from '@svc/scim-protocol';
import { toGroupResource } from './groups/group-resource';
import type { ScimDeps } from './scim-deps';
import { listCandidates, userSchema } from './users/read-users';
import { toUserResource } from './users/user-resource';

const listResponseSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

export interface ScimQuery extends Projection {
  filter?: string;
  /** 1-based. */
  startIndex?: number;
  count?: number;
  sortBy?: string;
  sortOrder?: 'ascending' | 'descending';
}

/** @throws ScimFault invalidFilter, invalidValue */
export async function listUsers(deps: ScimDeps, baseUrl: string, query: ScimQuery): Promise<ScimList> {
  const schema = userSchema(deps);
  const filter = query.filter ? parseFilter(schema, query.filter) : undefined;
  const users = (await listCandidates(deps, filter)).map((stored) => toUserResource(stored, baseUrl));
  return select([{ schema, resources: users, filter }], schema, 'userName', query);
}

/** @throws ScimFault invalidFilter, invalidValue */
export async function listGroups(deps: ScimDeps, baseUrl: string, query: ScimQuery): Promise<ScimList> {
  const filter = query.filter ? parseFilter(groupSchema, query.filter) : undefined;
  const groups = (await listGroupCandidates(deps, filter)).map((stored) => toGroupResource(stored, baseUrl));
  return select([{ schema: groupSchema, resources: groups, filter }], groupSchema, 'displayName', query);
}

async function listGroupCandidates({ groups }: ScimDeps, filter: Filter | undefined) {
  const exact = filter && findEquality(filter, ['displayName']);
  if (!exact) return groups.list();
  const found = await groups.findByName(exact.value);
  return found ? [found] : [];
}

/**
 * Searches users and groups. An attribute that only one of the types has is absent from the other.
 *
 * @throws ScimFault invalidFilter, invalidValue
 */
export async function searchAll(deps: ScimDeps, baseUrl: string, query: ScimQuery): Promise<ScimList> {
  const users = userSchema(deps);
  const either = mergeSchemas(users, groupSchema);
  const filter = query.filter ? parseFilter(either, query.filter) : undefined;
  const [people, groups] = await Promise.all([listCandidates(deps, filter), deps.groups.list()]);
  const parts = [
    { schema: users, resources: people.map((stored) => toUserResource(stored, baseUrl)), filter },
    { schema: groupSchema, resources: groups.map((stored) => toGroupResource(stored, baseUrl)), filter },
  ];
  return select(parts, either, 'id', query);
}

const mergeSchemas = (...schemas: readonly ResourceSchema[]): ResourceSchema => {
  const byName = new Map(schemas.flatMap(({ attributes }) => attributes).map((one) => [one.name, one]));
  return { ...commonSchema, attributes: [...byName.values()] };
};

interface ListPart {
  schema: ResourceSchema;
  resources: readonly Json[];
  filter: Filter | undefined;
}

function select(
  parts: readonly ListPart[],
  sortSchema: ResourceSchema,
  defaultSort: string,
  { sortBy = defaultSort, sortOrder = 'ascending', startIndex, count, ...projection }: ScimQuery,
): ScimList {
  const schemas = new Map<Json, ResourceSchema>();
  for (const { schema, resources, filter } of parts)
    for (const one of resources) if (!filter || matches(filter, one)) schemas.set(one, schema);
  const sorted = sortResources(sortSchema, [...schemas.keys()], sortBy, sortOrder);
  const { startIndex: start, page } = takePage(sorted, {
    ...(startIndex !== undefined && { startIndex }),
    ...(count !== undefined && { count }),
  });
  return toList(
    page.map((one) => project(schemas.get(one) ?? sortSchema, one, projection)),
    sorted.length,
    start,
  );
}

export const toList = (resources: readonly Json[], total = resources.length, startIndex = 1): ScimList => ({
  schemas: [listResponseSchema],
  totalResults: total,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources as ScimResource[],
});

/** Names that are separated by commas. */
export const readNames = (text: string | undefined): string[] =>
  text?.split(',').filter((name) => name.trim() !== '') ?? [];

/**
 * Reads a search from a body, whose names may be in any case.
 *
 * @throws ScimFault invalidSyntax, invalidValue
 */
export function readSearch(sent: unknown): ScimQuery {
  if (!isObject(sent)) throw new ScimFault('invalidSyntax', 'send a JSON object');
  const [filter, sortBy] = ['filter', 'sortBy'].map((name) => readTyped(sent, name, 'string'));
  const [startIndex, count] = ['startIndex', 'count'].map((name) => readTyped(sent, name, 'number'));
  const order = readSortOrder(readTyped(sent, 'sortOrder', 'string'));
  if ([startIndex, count].some((number) => number !== undefined && !Number.isSafeInteger(number)))
    throw invalid('count');
  return {
    ...(filter && { filter }),
    ...(sortBy && { sortBy }),
    ...(order && { sortOrder: order }),
    ...(startIndex !== undefined && { startIndex }),
    ...(count !== undefined && { count }),
    attributes: readList(sent, 'attributes'),
    excludedAttributes: readList(sent, 'excludedAttributes'),
  };
}

/** @throws ScimFault invalidValue */
export function readSortOrder(text: string | undefined): ScimQuery['sortOrder'] {
  const order = text?.toLowerCase();
  if (order === undefined || order === 'ascending' || order === 'descending') return order;
  throw invalid('sortOrder');
}

const invalid = (name: string) => new ScimFault('invalidValue', `${name} is not valid`);

function readTyped<T extends 'string' | 'number'>(sent: Json, name: string, type: T) {
  const value = readValue(sent, name) ?? undefined;
  if (value !== undefined && typeof value !== type) throw invalid(name);
  return value as (T extends 'string' ? string : number) | undefined;
}

function readList(sent: Json, name: string): string[] {
  const value = readValue(sent, name) ?? [];
  if (!Array.isArray(value) || value.some((one) => typeof one !== 'string')) throw invalid(name);
  return value as string[];
}
