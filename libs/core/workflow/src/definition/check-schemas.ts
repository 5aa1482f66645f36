import { isRecord } from '@svc/json';
import { compileSchema, type Compilation } from '@svc/schema';
import type { Faults, Path } from './faults';
import { definitionLimits } from './limits';
import type { WorkflowDefinition } from './workflow';

type Json = Record<string, unknown>;
export type SchemaCompiler = (document: Json) => Compilation;

export interface SchemaDeps {
  /** Compiler with the registered schemas, possibly cached; absent = no schema may refer to another. */
  compileSchema?: SchemaCompiler | undefined;
  /** Ids that input_schema_id and output_schema_id may name; absent = not checked. */
  schemaIds?: ReadonlySet<string> | undefined;
}

/** Checks that every inline schema compiles and every schema id is registered. See docs/reference/workflows.md#definitions. */
export function checkSchemas(
  { input_schema, steps }: Pick<WorkflowDefinition, 'input_schema' | 'steps'>,
  deps: SchemaDeps,
  faults: Faults,
): void {
  const inline = new Map<string, { document: Json; paths: Path[] }>();
  const add = (document: Json | undefined, path: Path) => {
    if (!document) return;
    const text = JSON.stringify(document);
    const known = inline.get(text);
    if (known) known.paths.push(path);
    else inline.set(text, { document, paths: [path] });
  };
  add(input_schema, ['input_schema']);
  for (const [id, step] of Object.entries(steps)) {
    for (const field of ['input_schema', 'output_schema'] as const) {
      add(step[field], ['steps', id, field]);
      const named = step[`${field}_id`];
      if (named === undefined) continue;
      const path = ['steps', id, `${field}_id`];
      if (step[field]) faults.add(path, `conflicts with ${field}: keep one of them`);
      if (deps.schemaIds?.has(named) === false)
        faults.add(path, 'names a schema that is not registered: register it first');
    }
  }
  compileAll([...inline.values()], deps.compileSchema ?? alone, faults);
}

const alone: SchemaCompiler = (document) => compileSchema(document, new Map());

function compileAll(inline: { document: Json; paths: Path[] }[], compile: SchemaCompiler, faults: Faults): void {
  let left: number = definitionLimits.subschemas;
  for (const { document, paths } of inline) {
    left -= countParts(document);
    if (left < 0) {
      return faults.add(paths[0] ?? [], `the schemas of this workflow have more than ${definitionLimits.subschemas} parts: register some of them and refer to them by id`); // prettier-ignore
    }
    const messages = schemaFaults(compile(document));
    for (const path of paths) for (const [at, message] of messages) faults.add([...path, ...at], message);
  }
}

function schemaFaults(compilation: Compilation): [Path, string][] {
  switch (compilation.kind) {
    case 'compiled':
      return [];
    case 'missing':
      return [[[], `refers to ${compilation.id.slice(0, 200)}, which is not registered: register it first`]];
    case 'invalid':
      return byPath(compilation.violations).map(([path, messages]) => {
        return [pointerParts(path), `is not a valid JSON Schema: ${messages.join('; ')}`];
      });
  }
}

/** Groups violations by path: one wrong keyword violates several rules of the meta-schema. */
function byPath(violations: readonly { path: string; message: string }[]): [string, string[]][] {
  const found = new Map<string, string[]>();
  for (const { path, message } of violations) found.set(path, [...(found.get(path) ?? []), message]);
  return [...found];
}

const pointerParts = (pointer: string): Path =>
  pointer === '$' ? [] : pointer.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')); // prettier-ignore

/** Objects and lists in a document, itself included. */
function countParts(document: Json): number {
  const open: unknown[] = [document];
  let parts = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isRecord(next) && !Array.isArray(next)) continue;
    parts++;
    for (const member of Object.values(next)) open.push(member ?? 0);
  }
  return parts;
}
