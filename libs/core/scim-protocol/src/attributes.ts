/** An attribute of a resource, as `/Schemas` publishes it. Reading, filters, sorting, PATCH and projection derive from it. */
export interface Attribute {
  name: string;
  type: 'string' | 'boolean' | 'integer' | 'complex' | 'reference' | 'dateTime';
  description: string;
  multiValued?: true;
  /** Always present in responses; a client may leave it out where the server has a default. */
  required?: true;
  /** Default `readWrite`. */
  mutability?: 'readOnly' | 'immutable';
  /** Default `default`. */
  returned?: 'always';
  /** Default `none`. */
  uniqueness?: 'server';
  canonicalValues?: readonly string[];
  referenceTypes?: readonly string[];
  /** Of a complex attribute. */
  subAttributes?: readonly Attribute[];
  /** The resource has one value of a multi-valued attribute, so that adding another one replaces it. */
  holdsOne?: true;
  /** Largest number of characters of a text. */
  maxLength?: number;
}

export interface ResourceSchema {
  id: string;
  name: string;
  description: string;
  attributes: readonly Attribute[];
}

export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Attributes of every resource; they belong to no schema. */
const commonAttributes: readonly Attribute[] = [
  {
    name: 'schemas',
    type: 'reference',
    description: 'Schemas of the resource.',
    multiValued: true,
    returned: 'always',
  },
  { name: 'id', type: 'string', description: 'Id of the resource.', mutability: 'readOnly', returned: 'always' },
  { name: 'externalId', type: 'string', description: 'Id that the client uses.', maxLength: 256 },
  {
    name: 'meta',
    type: 'complex',
    description: 'Facts about the resource.',
    mutability: 'readOnly',
    subAttributes: [
      { name: 'resourceType', type: 'string', description: 'Kind of the resource.', mutability: 'readOnly' },
      { name: 'created', type: 'dateTime', description: 'Time of its creation.', mutability: 'readOnly' },
      { name: 'lastModified', type: 'dateTime', description: 'Time of its last change.', mutability: 'readOnly' },
      { name: 'location', type: 'reference', description: 'URL of the resource.', mutability: 'readOnly' },
      { name: 'version', type: 'string', description: 'Entity tag.', mutability: 'readOnly' },
    ],
  },
];

/** Attribute names are compared ignoring case. */
export const findByName = <T extends { name: string }>(list: readonly T[], name: string): T | undefined =>
  list.find((one) => one.name.toLowerCase() === name.toLowerCase());

export const listAttributes = ({ attributes }: Pick<ResourceSchema, 'attributes'>): readonly Attribute[] => [
  ...commonAttributes,
  ...attributes,
];

/** The value that an object has for an attribute, with its name in any case. */
export function readValue(object: Json, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  const key = Object.keys(object).find((one) => one.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : object[key];
}

/** An attribute, or a part of a complex one. */
export interface AttributePath {
  attribute: Attribute;
  sub?: Attribute;
}

/**
 * Finds an attribute by its path, such as `name.givenName`, with or without the URN of its schema.
 *
 * @returns undefined when the resource has no such attribute
 */
export function findAttribute(schema: ResourceSchema, path: string): AttributePath | undefined {
  const prefix = `${schema.id}:`;
  const isQualified = path.toLowerCase().startsWith(prefix.toLowerCase());
  const [name = '', subName, ...more] = (isQualified ? path.slice(prefix.length) : path).split('.');
  const attribute = findByName(listAttributes(schema), name);
  if (!attribute || more.length > 0) return undefined;
  if (subName === undefined) return { attribute };
  const sub = findByName(attribute.subAttributes ?? [], subName);
  return sub && { attribute, sub };
}
