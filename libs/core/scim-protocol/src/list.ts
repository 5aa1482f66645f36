import {
  type AttributePath,
  findAttribute,
  isObject,
  type Json,
  listAttributes,
  readValue,
  type ResourceSchema,
} from './attributes';
import { ScimFault } from './fault';

export interface Projection {
  /** Only these attributes, and those that are always returned. */
  attributes?: readonly string[];
  excludedAttributes?: readonly string[];
}

/**
 * Leaves out what a client does not want. Unknown names are ignored.
 *
 * @throws ScimFault invalidValue when both lists are given
 */
export function project(
  schema: ResourceSchema,
  resource: Json,
  { attributes = [], excludedAttributes = [] }: Projection,
): Json {
  if (attributes.length > 0 && excludedAttributes.length > 0) {
    throw new ScimFault('invalidValue', 'attributes and excludedAttributes exclude each other');
  }
  if (attributes.length > 0) {
    const wanted = findAll(schema, attributes);
    return pick(resource, (name) => {
      const paths = wanted.filter(({ attribute }) => attribute.name === name);
      if (isAlwaysReturned(schema, name) || paths.some(({ sub }) => !sub)) return () => true;
      return paths.length > 0 ? (part) => paths.some(({ sub }) => sub?.name === part) : undefined;
    });
  }
  if (excludedAttributes.length === 0) return resource;
  const excluded = findAll(schema, excludedAttributes);
  return pick(resource, (name) => {
    const paths = excluded.filter(({ attribute }) => attribute.name === name);
    if (!isAlwaysReturned(schema, name) && paths.some(({ sub }) => !sub)) return undefined;
    return (part) => !paths.some(({ sub }) => sub?.name === part);
  });
}

const findAll = (schema: ResourceSchema, names: readonly string[]): AttributePath[] =>
  names.flatMap((name) => findAttribute(schema, name.trim()) ?? []);

const isAlwaysReturned = (schema: ResourceSchema, name: string) =>
  listAttributes(schema).some((attribute) => attribute.name === name && attribute.returned === 'always');

/** @param choose the parts of an attribute to keep; undefined = the attribute is left out */
function pick(resource: Json, choose: (name: string) => ((part: string) => boolean) | undefined): Json {
  const kept = Object.entries(resource).flatMap(([name, value]) => {
    const keeps = choose(name);
    return keeps ? [[name, pickParts(value, keeps)] as const] : [];
  });
  return Object.fromEntries(kept);
}

function pickParts(value: unknown, keeps: (part: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => pickParts(one, keeps));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => keeps(name)));
}

/**
 * Sorts resources by one attribute, ignoring case; those without it are last, in descending order first. Equal ones are sorted
 * by id, so that pages do not overlap.
 *
 * @throws ScimFault invalidValue for an unknown attribute
 */
export function sortResources(
  schema: ResourceSchema,
  resources: readonly Json[],
  sortBy: string,
  order: 'ascending' | 'descending',
): Json[] {
  const path = findAttribute(schema, sortBy);
  if (!path) throw new ScimFault('invalidValue', 'sortBy names an attribute that these resources do not have');
  const sign = order === 'ascending' ? 1 : -1;
  const keyed = resources.map((resource) => ({
    resource,
    value: sortValue(resource, path),
    id: String(resource['id']),
  }));
  keyed.sort((a, b) => {
    if (a.value === b.value) return a.id < b.id ? -1 : 1;
    if (a.value === undefined || b.value === undefined) return a.value === undefined ? sign : -sign;
    return a.value < b.value ? -sign : sign;
  });
  return keyed.map(({ resource }) => resource);
}

function sortValue(resource: Json, { attribute, sub }: AttributePath): string | undefined {
  const whole = readValue(resource, attribute.name);
  const elements = Array.isArray(whole) ? (whole as unknown[]) : [whole];
  const one = elements.find((element) => isObject(element) && element['primary'] === true) ?? elements[0];
  const value = isObject(one) ? readValue(one, sub?.name ?? 'value') : one;
  return value === undefined || value === null ? undefined : String(value).toLowerCase();
}

export const pageSizes = { standard: 100, most: 200 } as const;

/** The part of a list that was asked for. @param startIndex 1-based; less reads as 1 @param count negative reads as 0 */
export function takePage<T>(
  items: readonly T[],
  { startIndex = 1, count = pageSizes.standard }: { startIndex?: number; count?: number },
): { startIndex: number; page: readonly T[] } {
  const start = Math.max(1, startIndex);
  const size = Math.min(Math.max(0, count), pageSizes.most);
  return { startIndex: start, page: items.slice(start - 1, start - 1 + size) };
}

/** Attributes that all types of resources have, for searches over several types. */
export const commonSchema: ResourceSchema = { id: '', name: '', description: '', attributes: [] };
