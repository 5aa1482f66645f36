import { isRecord } from '@svc/json';
import { costKeyword } from './keywords';
import { schemaLimits } from './limits';
import { patternFault } from './patterns';
import type { Violation } from './violations';

/** Keywords whose value maps names to schemas. */
const maps = new Set(['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties']);
/** Keywords whose value is data, not schema. */
const plain = new Set(['const', 'enum', 'dependentRequired', '$vocabulary']);
/** Keywords without effect on checks. Removed, so that references cannot target their content. */
const dropped = new Set(['default', 'examples']);
const references = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

export interface Prepared {
  schema: Record<string, unknown>;
  subschemas: number;
}

type Json = Record<string, unknown>;

/**
 * Copies a schema and assigns a cost to every subschema, so that checks terminate for any cycle of references. Objects
 * under unknown keywords get a cost too, because references may target them.
 *
 * @returns the errors, at pointers into the schema, when it exceeds a limit or has unsupported patterns
 */
export function prepare(document: Json): { prepared: Prepared } | { faults: Violation[] } {
  const walk = new Walk();
  const schema = walk.schema(document, '', 0);
  return walk.faults.length > 0 ? { faults: walk.faults } : { prepared: { schema, subschemas: walk.subschemas } };
}

class Walk {
  readonly faults: Violation[] = [];
  subschemas = 0;

  schema(source: Json, path: string, depth: number): Json {
    if (!this.enter(path, depth)) return {};
    const copy: Json = {};
    for (const [key, value] of Object.entries(source)) {
      if (dropped.has(key)) continue;
      const at = `${path}/${escape(key)}`;
      if (key === 'pattern') this.checkPattern(value, at);
      if (key === '$async') this.fault(at, 'is not part of JSON Schema');
      if (references.has(key) && typeof value !== 'string') this.fault(at, 'must be a string');
      set(copy, key, this.member(key, value, at, depth));
    }
    set(copy, costKeyword, visitCost(source));
    return copy;
  }

  private member(key: string, value: unknown, path: string, depth: number): unknown {
    if (plain.has(key)) {
      if (hidesReference(value, depth))
        this.fault(path, 'holds data that looks like a reference, or is nested too deeply');
      return value;
    }
    if (maps.has(key) && isRecord(value)) {
      const copy: Json = {};
      for (const [name, child] of Object.entries(value)) {
        if (key === 'patternProperties') this.checkPattern(name, `${path}/${escape(name)}`);
        set(copy, name, this.any(child, `${path}/${escape(name)}`, depth + 1));
      }
      return copy;
    }
    return this.any(value, path, depth + 1);
  }

  private any(value: unknown, path: string, depth: number): unknown {
    if (Array.isArray(value)) {
      return this.enter(path, depth) ? value.map((item, i) => this.any(item, `${path}/${i}`, depth + 1)) : [];
    }
    return isRecord(value) ? this.schema(value, path, depth) : value;
  }

  /** Counts a nested subschema; returns false after an error, to stop the walk. */
  private enter(path: string, depth: number): boolean {
    this.subschemas += 1;
    const { maxDepth, maxSubschemas } = schemaLimits;
    if (depth > maxDepth) this.fault(path, `is nested more than ${maxDepth} deep`);
    if (this.subschemas > maxSubschemas) this.fault('', `has more than ${maxSubschemas} subschemas`);
    return this.faults.length === 0;
  }

  private checkPattern(value: unknown, path: string): void {
    const wrong = typeof value === 'string' ? patternFault(value) : 'must be a string';
    if (wrong) this.fault(path, wrong);
  }

  private fault(path: string, message: string): void {
    const known = this.faults.some((fault) => fault.message === message && fault.path === (path || '$'));
    if (!known && this.faults.length < schemaLimits.violations) this.faults.push({ path: path || '$', message });
  }
}

/** Assigns a property; `__proto__` gets no special treatment. */
function set(target: Json, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

const escape = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** One step per visit, plus one per listed item: required names, allowed values, properties. */
function visitCost(source: Json): number {
  return Object.values(source).reduce<number>((cost, value) => {
    if (Array.isArray(value)) return cost + value.length;
    return isRecord(value) ? cost + Object.keys(value).length : cost;
  }, 1);
}

/** Whether data contains a reference keyword; a schema reference into data would bypass the cost keyword. */
function hidesReference(value: unknown, depth: number): boolean {
  if (depth > schemaLimits.maxDepth) return true;
  if (Array.isArray(value)) return value.some((item) => hidesReference(item, depth + 1));
  if (!isRecord(value)) return false;
  return Object.entries(value).some(([key, item]) => references.has(key) || hidesReference(item, depth + 1));
}
