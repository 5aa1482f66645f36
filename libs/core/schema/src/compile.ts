import { MissingRefError } from 'ajv';
import type { ValidateFunction } from 'ajv';
import { Budget, BudgetExceeded } from './budget';
import { createCompiler, getDialect, getMetaValidator, supportedDialects, type Dialect } from './dialect';
import { schemaLimits } from './limits';
import { prepare } from './prepare';
import { atRoot, toViolations, type Violation } from './violations';

export interface CompiledSchema {
  /** Violations of a JSON value, empty when it is valid. The running time is bounded for any schema and value. */
  check(value: unknown): Violation[];
}

/**
 * `missing`: a referenced `$id` is not among the known schemas; compile again with it.
 * `invalid`: not a schema, over a limit, or with a dangling reference; paths are pointers into the schema.
 */
export type Compilation =
  | { kind: 'compiled'; schema: CompiledSchema }
  | { kind: 'missing'; id: string }
  | { kind: 'invalid'; violations: Violation[] };

type Json = Record<string, unknown>;

/** The `$id` of a schema without an empty fragment. */
export const getSchemaId = (document: Json): string | undefined => {
  const id = document['$id'];
  return typeof id === 'string' && id !== '' ? id.replace(/#$/, '') : undefined;
};

/**
 * Compiles a JSON Schema for checks of bounded cost. Nothing is fetched: references resolve only within the document and
 * to known schemas. See docs/reference/routing.md#schemas.
 *
 * @param known other schemas by their `$id`
 */
export function compileSchema(document: Json, known: ReadonlyMap<string, Json>): Compilation {
  const dialect = getDialect(document);
  if (!dialect) return invalid([{ path: '/$schema', message: `must be one of ${supportedDialects.join(', ')}` }]);
  const root = load(document, dialect);
  if ('faults' in root) return invalid(root.faults);
  if (known.size > schemaLimits.maxDocuments) {
    return invalid([atRoot(`leads to more than ${schemaLimits.maxDocuments} other schemas`)]);
  }
  const others = new Map<string, Json>();
  let { subschemas } = root;
  for (const [id, other] of known) {
    const loaded = getDialect(other) === dialect ? load(other, dialect) : { faults: [atRoot('has another $schema')] };
    if ('faults' in loaded)
      return invalid(loaded.faults.map(({ message }) => atRoot(`refers to ${id}, which ${message}`)));
    others.set(id, loaded.schema);
    subschemas += loaded.subschemas;
  }
  if (subschemas > schemaLimits.maxSubschemas) {
    return invalid([atRoot(`has more than ${schemaLimits.maxSubschemas} subschemas with those it refers to`)]);
  }
  return build(root.schema, others, dialect);
}

const invalid = (violations: Violation[]): Compilation => ({ kind: 'invalid', violations });

function load(document: Json, dialect: Dialect) {
  if (Buffer.byteLength(JSON.stringify(document)) > schemaLimits.maxBytes) {
    return { faults: [atRoot(`is longer than ${schemaLimits.maxBytes} bytes`)] };
  }
  const walked = prepare(document);
  if ('faults' in walked) return walked;
  const meta = getMetaValidator(dialect);
  return meta.validateSchema(document) ? walked.prepared : { faults: toViolations(meta.errors ?? []) };
}

function build(schema: Json, others: ReadonlyMap<string, Json>, dialect: Dialect): Compilation {
  const budget = new Budget();
  const compiled = (allErrors: boolean): ValidateFunction => {
    const ajv = createCompiler(dialect, budget, allErrors);
    for (const [id, other] of others) ajv.addSchema(other, id);
    return ajv.compile(schema);
  };
  try {
    const first = compiled(false);
    // Collecting all violations needs separately compiled code, so it is compiled on first use.
    let all: ValidateFunction | undefined;
    return {
      kind: 'compiled',
      schema: { check: (value) => check(value, budget, first, () => (all ??= compiled(true))) },
    };
  } catch (error) {
    if (error instanceof MissingRefError) {
      const id = error.missingSchema;
      if (id && !others.has(id) && id !== getSchemaId(schema)) return { kind: 'missing', id };
    }
    return invalid([
      atRoot(error instanceof Error ? error.message.slice(0, schemaLimits.messageChars) : 'cannot be used'),
    ]);
  }
}

function check(value: unknown, budget: Budget, first: ValidateFunction, all: () => ValidateFunction): Violation[] {
  try {
    budget.refill(schemaLimits.checkSteps);
    if (first(value)) return [];
  } catch (error) {
    return [toBudgetViolation(error)];
  }
  const found = toViolations(first.errors ?? []);
  if (!isSmall(value)) return found;
  const gather = all();
  try {
    budget.refill(schemaLimits.gatherSteps);
    gather(value);
    return toViolations(gather.errors ?? []);
  } catch (error) {
    toBudgetViolation(error);
    return found;
  }
}

/** @throws every error except an exhausted budget and a stack overflow caused by an endless reference */
function toBudgetViolation(error: unknown): Violation {
  if (error instanceof BudgetExceeded || error instanceof RangeError)
    return atRoot('takes too long to check against its schema: simplify the schema, or send less');
  throw error;
}

/** Whether a value is small enough to collect all its violations. */
function isSmall(value: unknown): boolean {
  const open = [value];
  for (let nodes = 0; open.length > 0; nodes++) {
    if (nodes + open.length > schemaLimits.gatherNodes) return false;
    const next = open.pop();
    if (next !== null && typeof next === 'object') for (const member of Object.values(next)) open.push(member);
  }
  return true;
}
