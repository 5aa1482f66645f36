import {
  type Attribute,
  findByName,
  isObject,
  type Json,
  listAttributes,
  readValue,
  type ResourceSchema,
} from './attributes';
import { ScimFault } from './fault';

const unreadable = /[\p{Cc}\p{Cs}]/u;
const MAX_ELEMENTS = 10_000;

/**
 * The attributes of a resource that a client sends, with the names of the schema. Unknown and read-only attributes are left out,
 * as are unassigned ones: null, an empty text and an empty list.
 *
 * @throws ScimFault invalidSyntax, invalidValue
 */
export function readResource(schema: ResourceSchema, sent: unknown): Json {
  if (!isObject(sent)) throw new ScimFault('invalidSyntax', 'send a JSON object');
  return readAttributes(listAttributes(schema), sent);
}

function readAttributes(attributes: readonly Attribute[], sent: Json): Json {
  const read = attributes.flatMap((attribute) => {
    if (attribute.mutability === 'readOnly' || attribute.name === 'schemas') return [];
    const value = readAttribute(attribute, readValue(sent, attribute.name));
    return value === undefined ? [] : [[attribute.name, value] as const];
  });
  return Object.fromEntries(read);
}

/**
 * A value of an attribute in the form of its schema.
 *
 * @returns undefined when it is unassigned
 * @throws ScimFault invalidValue
 */
export function readAttribute(attribute: Attribute, value: unknown): unknown {
  if (value === undefined || value === null || value === '') return undefined;
  if (!attribute.multiValued) return readOne(attribute, value);
  // Clients that set one value send it without a list.
  const elements = Array.isArray(value) ? (value as unknown[]) : [value];
  if (elements.length > MAX_ELEMENTS) throw invalid(attribute, `has at most ${MAX_ELEMENTS} values`);
  const read = elements.map((one) => readElement(attribute, one)).filter((one) => one !== undefined);
  if (read.length === 0) return undefined;
  return attribute.holdsOne ? [chooseOne(read)] : distinct(read);
}

/** One value of a multi-valued complex attribute. @throws ScimFault invalidValue */
export function readElement(attribute: Attribute, value: unknown): Json | undefined {
  // A text stands for an object with this value.
  const element = readOne(attribute, typeof value === 'string' ? { value } : value) as Json;
  return Object.keys(element).length > 0 ? element : undefined;
}

/** The value that a resource with room for one keeps. */
const chooseOne = (elements: readonly Json[]): Json | undefined =>
  elements.find(({ primary }) => primary === true) ?? elements[0];

const distinct = (elements: readonly Json[]): Json[] => [
  ...new Map(elements.map((one) => [JSON.stringify(one['value'] ?? one), one])).values(),
];

function readOne(attribute: Attribute, value: unknown): unknown {
  switch (attribute.type) {
    case 'complex':
      if (!isObject(value)) throw invalid(attribute, 'is not an object');
      return readParts(attribute, value);
    case 'boolean':
      return readBoolean(attribute, value);
    default:
      return readText(attribute, value);
  }
}

function readParts(attribute: Attribute, value: Json): Json {
  const parts = readAttributes(attribute.subAttributes ?? [], value);
  for (const { name, required } of attribute.subAttributes ?? []) {
    if (required && parts[name] === undefined) throw invalid(attribute, `needs ${name}`);
  }
  return parts;
}

/** Some providers send booleans as text. */
function readBoolean(attribute: Attribute, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (text !== 'true' && text !== 'false') throw invalid(attribute, 'is not a boolean');
  return text === 'true';
}

function readText(attribute: Attribute, value: unknown): string | undefined {
  if (typeof value !== 'string') throw invalid(attribute, 'is not a text');
  const { maxLength = 2_048 } = attribute;
  if (value.length > maxLength) throw invalid(attribute, `has at most ${maxLength} characters`);
  if (unreadable.test(value)) throw invalid(attribute, 'contains control characters or incomplete characters');
  return value;
}

const invalid = ({ name }: Attribute, problem: string) => new ScimFault('invalidValue', `${name} ${problem}`);

/** Sets a part of a complex value; undefined removes it. @throws ScimFault invalidValue */
export function withPart(attribute: Attribute, value: Json, partName: string, part: unknown): Json {
  const sub = findByName(attribute.subAttributes ?? [], partName);
  if (!sub) return value;
  const { [sub.name]: _before, ...others } = value;
  const read = readAttribute(sub, part);
  return read === undefined ? others : { ...others, [sub.name]: read };
}
