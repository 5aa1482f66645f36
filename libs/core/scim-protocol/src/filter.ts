import { parse, type Filter as ParsedFilter } from 'scim2-parse-filter';
import {
  type Attribute,
  findAttribute,
  findByName,
  isObject,
  type Json,
  readValue,
  type ResourceSchema,
} from './attributes';
import { ScimFault } from './fault';

type Operator = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';
type Comparand = string | number | boolean | null;

/** A filter whose attributes are known, ready to be evaluated. */
export type Filter =
  | { op: 'and' | 'or'; filters: readonly Filter[] }
  | { op: 'not'; filter: Filter }
  /** One element of a multi-valued attribute satisfies the whole inner filter. */
  | { op: 'element'; attribute: Attribute; filter: Filter }
  | { op: 'present'; attribute: Attribute; sub?: Attribute }
  | { op: Operator; attribute: Attribute; sub?: Attribute; value: Comparand };

const MAX_CHARS = 4_096;
/** Bounds the recursion of the parser and of the evaluation. */
const MAX_NESTED = 50;
const MAX_TERMS = 200;

const invalid = (message: string) => new ScimFault('invalidFilter', message);

/**
 * Parses a filter for a type of resources.
 *
 * @throws ScimFault invalidFilter
 */
export function parseFilter(schema: ResourceSchema, text: string): Filter {
  return resolve(parseText(text), (path) => findAttribute(schema, path));
}

/**
 * Parses the filter of a value path, such as `type eq "work"` in `emails[type eq "work"].value`.
 *
 * @throws ScimFault invalidFilter
 */
export function parseElementFilter(attribute: Attribute, text: string): Filter {
  return resolve(parseText(text), (path) => findSub(attribute, path));
}

const findSub = ({ subAttributes = [] }: Attribute, path: string) => {
  const sub = findByName(subAttributes, path);
  return sub && { attribute: sub };
};

const quoted = /"(?:[^"\\\p{Cc}]|\\.)*"/gu;

/**
 * The library never sees the texts in a filter: its pattern for them takes exponential time on line feeds, and it reads escapes
 * differently from JSON. Each is replaced by its number.
 */
function parseText(text: string): ParsedFilter {
  if (text.length > MAX_CHARS) throw invalid(`a filter has at most ${MAX_CHARS} characters`);
  const texts: string[] = [];
  const replaced = text.replace(quoted, (literal) => `"${texts.push(readText(literal)) - 1}"`);
  if (/["\\\n\r]/.test(replaced.replace(/"\d+"/g, ''))) throw invalid('a text in the filter is not complete');
  const opened = replaced.match(/[([]|\bnot\b/gi)?.length ?? 0;
  if (opened > MAX_NESTED) throw invalid(`a filter has at most ${MAX_NESTED} parentheses and negations`);
  try {
    return restoreTexts(parse(replaced), texts);
  } catch (error) {
    if (error instanceof ScimFault) throw error;
    throw invalid('the filter cannot be parsed');
  }
}

function readText(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    throw invalid('a text in the filter is not valid JSON');
  }
}

function restoreTexts(filter: ParsedFilter, texts: readonly string[]): ParsedFilter {
  switch (filter.op) {
    case 'and':
    case 'or':
      return { ...filter, filters: filter.filters.map((one) => restoreTexts(one, texts)) };
    case 'not':
      return { ...filter, filter: restoreTexts(filter.filter, texts) };
    case '[]':
      return { ...filter, valFilter: restoreTexts(filter.valFilter, texts) };
    case 'pr':
      return filter;
    default: {
      if (!('compValue' in filter)) throw invalid('the filter has an unknown operator');
      const { compValue } = filter;
      return typeof compValue === 'string' ? { ...filter, compValue: texts[Number(compValue)] ?? '' } : filter;
    }
  }
}

type Find = (path: string) => { attribute: Attribute; sub?: Attribute } | undefined;

const operators: ReadonlySet<string> = new Set(['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le']);

function resolve(parsed: ParsedFilter, find: Find): Filter {
  let terms = 0;
  const visit = (filter: ParsedFilter, lookUp: Find): Filter => {
    if (++terms > MAX_TERMS) throw invalid(`a filter has at most ${MAX_TERMS} terms`);
    switch (filter.op) {
      case 'and':
      case 'or':
        return { op: filter.op, filters: filter.filters.map((one) => visit(one, lookUp)) };
      case 'not':
        return { op: 'not', filter: visit(filter.filter, lookUp) };
      case '[]': {
        const { attribute, sub } = requireAttribute(lookUp, filter.attrPath);
        if (sub || attribute.type !== 'complex') throw invalid(`${attribute.name} has no parts`);
        return { op: 'element', attribute, filter: visit(filter.valFilter, (path) => findSub(attribute, path)) };
      }
      case 'pr':
        return { op: 'present', ...requireAttribute(lookUp, filter.attrPath) };
      default:
        return compare(filter, requireAttribute(lookUp, filter.attrPath));
    }
  };
  return visit(parsed, find);
}

function requireAttribute(find: Find, path: string): { attribute: Attribute; sub?: Attribute } {
  const found = find(path);
  if (!found) throw invalid('the filter names an attribute that these resources do not have');
  return found;
}

function compare(
  { op, compValue: value }: Extract<ParsedFilter, { compValue: unknown }>,
  { attribute, sub }: { attribute: Attribute; sub?: Attribute },
): Filter {
  // The library takes names of Object.prototype for operators.
  if (!operators.has(op)) throw invalid('the filter has an unknown operator');
  const compared =
    sub ?? (attribute.type === 'complex' ? findByName(attribute.subAttributes ?? [], 'value') : attribute);
  if (!compared) throw invalid(`compare a part of ${attribute.name}`);
  const isText = compared.type !== 'boolean';
  if (value !== null && typeof value !== (isText ? 'string' : 'boolean')) {
    throw invalid(`${compared.name} is compared with a ${isText ? 'text' : 'boolean'}`);
  }
  if (!isText && op !== 'eq' && op !== 'ne') throw invalid(`${compared.name} is compared by eq or ne`);
  if (value === null && op !== 'eq' && op !== 'ne') throw invalid('null is compared by eq or ne');
  const isTime = compared.type === 'dateTime' && typeof value === 'string';
  return { op, attribute, ...(compared !== attribute && { sub: compared }), value: isTime ? readTime(value) : value };
}

/** Times of resources are written in one form, in which they sort as text. */
function readTime(value: string): string {
  const ms = Date.parse(value);
  if (Number.isNaN(ms)) throw invalid('a time in the filter is not valid');
  return new Date(ms).toISOString();
}

/** Whether a resource satisfies a filter. Texts are compared ignoring case. */
export function matches(filter: Filter, resource: Json): boolean {
  switch (filter.op) {
    case 'and':
      return filter.filters.every((one) => matches(one, resource));
    case 'or':
      return filter.filters.some((one) => matches(one, resource));
    case 'not':
      return !matches(filter.filter, resource);
    case 'element':
      return elements(readValue(resource, filter.attribute.name)).some(
        (one) => isObject(one) && matches(filter.filter, one),
      );
    case 'present':
      return listValues(resource, filter).length > 0;
    default: {
      const values = listValues(resource, filter);
      const { op, value } = filter;
      if (value === null) return (values.length === 0) === (op === 'eq');
      if (op === 'ne') return !values.some((one) => holds('eq', one, value));
      return values.some((one) => holds(op, one, value));
    }
  }
}

const elements = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as unknown[]) : value === undefined ? [] : [value];

const isAssigned = (value: unknown) => value !== undefined && value !== null && value !== '';

function listValues(resource: Json, { attribute, sub }: { attribute: Attribute; sub?: Attribute }): unknown[] {
  const own = elements(readValue(resource, attribute.name));
  return (sub ? own.map((one) => (isObject(one) ? readValue(one, sub.name) : undefined)) : own).filter(isAssigned);
}

function holds(op: Operator, actual: unknown, wanted: Comparand): boolean {
  if (typeof actual === 'boolean') return op === 'eq' && actual === wanted;
  const [left, right] = [String(actual).toLowerCase(), String(wanted).toLowerCase()];
  switch (op) {
    case 'eq':
      return left === right;
    case 'ne':
      return left !== right;
    case 'co':
      return left.includes(right);
    case 'sw':
      return left.startsWith(right);
    case 'ew':
      return left.endsWith(right);
    case 'gt':
      return left > right;
    case 'ge':
      return left >= right;
    case 'lt':
      return left < right;
    case 'le':
      return left <= right;
  }
}

/** The text that a filter compares this attribute with, if it does nothing else: `userName eq "a"`. */
export function findEquality(filter: Filter, names: readonly string[]): { name: string; value: string } | undefined {
  if (filter.op !== 'eq' || typeof filter.value !== 'string' || filter.sub) return undefined;
  const { name } = filter.attribute;
  return names.includes(name) ? { name, value: filter.value } : undefined;
}
