import { type Attribute, findAttribute, isObject, type Json, readValue, type ResourceSchema } from './attributes';
import { ScimFault } from './fault';
import { type Filter, matches } from './filter';
import { parsePatchPath, type PatchPath } from './patch-path';
import { readAttribute, readElement, withPart } from './read-resource';

export interface PatchOperation {
  op: 'add' | 'replace' | 'remove';
  /** Absent = the value is an object of attributes. */
  path?: string;
  value?: unknown;
}

const MAX_OPERATIONS = 1_000;

/**
 * Reads the operations of a PATCH request. Names and operations are recognized in any case.
 *
 * @throws ScimFault invalidSyntax
 */
export function readOperations(sent: unknown): PatchOperation[] {
  const list = isObject(sent) ? readValue(sent, 'Operations') : undefined;
  if (!Array.isArray(list) || list.length === 0) throw invalidSyntax('Operations must be a list with an operation');
  if (list.length > MAX_OPERATIONS) throw invalidSyntax(`a request has at most ${MAX_OPERATIONS} operations`);
  return (list as unknown[]).map(readOperation);
}

function readOperation(sent: unknown): PatchOperation {
  if (!isObject(sent)) throw invalidSyntax('an operation must be an object');
  const [op, path, value] = ['op', 'path', 'value'].map((name) => readValue(sent, name));
  const name = typeof op === 'string' ? op.toLowerCase() : '';
  if (name !== 'add' && name !== 'replace' && name !== 'remove') {
    throw invalidSyntax('op must be add, replace or remove');
  }
  if (path !== undefined && path !== null && typeof path !== 'string') throw invalidSyntax('path must be a text');
  return { op: name, ...(path && { path }), value };
}

const invalidSyntax = (message: string) => new ScimFault('invalidSyntax', message);

/**
 * Applies the operations of a PATCH request in order, all or none.
 *
 * @param resource its attributes, as `readResource` returns them
 * @returns the attributes of the changed resource, not checked beyond the schema
 * @throws ScimFault
 */
export function applyPatch(schema: ResourceSchema, resource: Json, operations: readonly PatchOperation[]): Json {
  return operations.reduce((current, operation) => applyOne(schema, current, operation), resource);
}

function applyOne(schema: ResourceSchema, resource: Json, { op, path, value }: PatchOperation): Json {
  if (path !== undefined) {
    const target = parsePatchPath(schema, path);
    requireWritable(target, op);
    return applyAt(resource, target, op, value);
  }
  if (op === 'remove') throw new ScimFault('noTarget', 'remove needs a path');
  if (!isObject(value)) throw new ScimFault('invalidValue', 'without a path, the value is an object of attributes');
  return applyObject(schema, resource, op, value);
}

/** As in a PUT, attributes that are unknown or read-only are ignored. Names may be paths: `name.givenName`. */
function applyObject(schema: ResourceSchema, resource: Json, op: 'add' | 'replace', value: Json): Json {
  return Object.entries(value).reduce((current, [name, part]) => {
    if (name.toLowerCase() === schema.id.toLowerCase() && isObject(part)) return applyObject(schema, current, op, part);
    const target = name.includes('[') ? parsePatchPath(schema, name) : findAttribute(schema, name);
    return target && isWritable(target) ? applyAt(current, target, op, part) : current;
  }, resource);
}

const isWritable = ({ attribute, sub }: PatchPath) =>
  attribute.name !== 'schemas' && attribute.mutability !== 'readOnly' && sub?.mutability !== 'readOnly';

function requireWritable(target: PatchPath, op: PatchOperation['op']): void {
  const { attribute, sub, filter } = target;
  if (!isWritable(target)) throw new ScimFault('mutability', `${(sub ?? attribute).name} is read-only`);
  if (sub?.mutability === 'immutable') {
    throw new ScimFault('mutability', `${sub.name} of ${attribute.name} cannot change`);
  }
  const isRequired = sub ? sub.required : attribute.required && !attribute.holdsOne && !filter;
  if (op === 'remove' && isRequired) throw new ScimFault('mutability', `${(sub ?? attribute).name} is required`);
}

function applyAt(resource: Json, target: PatchPath, op: PatchOperation['op'], value: unknown): Json {
  const { attribute } = target;
  const before = resource[attribute.name];
  const after = attribute.multiValued
    ? changeList(target, (before as readonly Json[] | undefined) ?? [], op, value)
    : changeOne(target, before, op, value);
  const { [attribute.name]: _before, ...others } = resource;
  const isUnassigned = after === undefined || (isObject(after) && Object.keys(after).length === 0);
  return isUnassigned || (Array.isArray(after) && after.length === 0) ? others : { ...others, [attribute.name]: after };
}

function changeOne({ attribute, sub }: PatchPath, before: unknown, op: PatchOperation['op'], value: unknown): unknown {
  if (sub)
    return withPart(attribute, (before as Json | undefined) ?? {}, sub.name, op === 'remove' ? undefined : value);
  if (op === 'remove') return undefined;
  if (attribute.type !== 'complex') return readAttribute(attribute, value);
  if (value !== null && !isObject(value)) throw new ScimFault('invalidValue', `${attribute.name} is not an object`);
  // Parts that the value does not name are kept.
  return Object.entries(value ?? {}).reduce(
    (parts, [name, part]) => withPart(attribute, parts, canonicalName(attribute, name), part),
    value === null ? {} : ((before as Json | undefined) ?? {}),
  );
}

const canonicalName = ({ subAttributes = [] }: Attribute, name: string) =>
  subAttributes.find((one) => one.name.toLowerCase() === name.toLowerCase())?.name ?? name;

function changeList(
  { attribute, filter, sub }: PatchPath,
  before: readonly Json[],
  op: PatchOperation['op'],
  value: unknown,
): readonly Json[] {
  if (!filter && !sub) return changeAll(attribute, before, op, value);
  const isSelected = (one: Json) => !filter || matches(filter, one);
  if (op === 'remove') {
    // Values that are gone already are not an error: the resource is as the client wants it.
    return sub
      ? before.map((one) => (isSelected(one) ? withPart(attribute, one, sub.name, undefined) : one))
      : before.filter((one) => !isSelected(one));
  }
  const change = (one: Json): Json => {
    if (sub) return withPart(attribute, one, sub.name, value);
    const read = readElement(attribute, op === 'add' && isObject(value) ? { ...one, ...value } : value);
    return read ?? one;
  };
  if (before.some(isSelected)) return before.map((one) => (isSelected(one) ? change(one) : one));
  // A resource with room for one value always has the place that the filter of its type names.
  if (op === 'replace' && !attribute.holdsOne) throw new ScimFault('noTarget', 'no value is selected by the path');
  const created = readElement(attribute, change(filter ? readEqualities(filter) : {}));
  return created ? addValues(attribute, before, [created]) : before;
}

function changeAll(
  attribute: Attribute,
  before: readonly Json[],
  op: PatchOperation['op'],
  value: unknown,
): readonly Json[] {
  const read = (readAttribute(attribute, value) as readonly Json[] | undefined) ?? [];
  switch (op) {
    case 'add':
      return addValues(attribute, before, read);
    case 'replace':
      return read;
    case 'remove': {
      // Some providers list the members to remove in the value.
      const gone = new Set(read.map((one) => one['value']));
      return gone.size > 0 ? before.filter((one) => !gone.has(one['value'])) : [];
    }
  }
}

function addValues({ holdsOne }: Attribute, before: readonly Json[], added: readonly Json[]): readonly Json[] {
  if (added.length === 0) return before;
  if (holdsOne) return added;
  const known = new Set(before.map((one) => one['value']));
  return [...before, ...added.filter((one) => !known.has(one['value']))];
}

/** The parts that a filter determines: `type eq "work"`. */
function readEqualities(filter: Filter): Json {
  if (filter.op === 'and') return Object.assign({}, ...filter.filters.map(readEqualities)) as Json;
  return filter.op === 'eq' && !filter.sub ? { [filter.attribute.name]: filter.value } : {};
}
