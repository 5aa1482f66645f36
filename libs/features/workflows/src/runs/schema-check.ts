import { CompileCache, type CompiledSchema } from '@svc/schema';
import type { SchemaCheck, StepDefinition, WorkflowDefinition } from '@svc/workflow';
import type { SchemaBook } from '@svc/registry';

type Which = 'input' | 'output';
type Find = (id: string) => ReturnType<SchemaBook['find']>;
type Checker = (value: unknown) => string | undefined;

const compiled = new CompileCache();
const shown = 5;
/** Most definitions; a pass need not look at each of their steps to know. */
const usesNone = new WeakSet<WorkflowDefinition>();

/**
 * What checks inputs and outputs of a definition's steps, with schemas of the run's tenant and of the installation.
 * Registered schemas are looked up beforehand, since a pass does no I/O; undefined when no step has a schema.
 */
export async function schemaCheckOf(
  book: Pick<SchemaBook, 'find'>,
  tenant: string,
  definition: WorkflowDefinition,
): Promise<SchemaCheck | undefined> {
  if (usesNone.has(definition)) return undefined;
  const { steps } = definition;
  const find: Find = (id) => book.find(tenant, id);
  const checkers = new Map<StepDefinition, Partial<Record<Which, Checker>>>();
  for (const step of Object.values(steps)) {
    const input = await checkerOf(find, step.input_schema, step.input_schema_id, 'input');
    const output = await checkerOf(find, step.output_schema, step.output_schema_id, 'output');
    if (input ?? output) checkers.set(step, { ...(input && { input }), ...(output && { output }) });
  }
  if (checkers.size === 0) {
    usesNone.add(definition);
    return undefined;
  }
  return (step, which, value) => checkers.get(step)?.[which]?.(value);
}

async function checkerOf(
  find: Find,
  own: Record<string, unknown> | undefined,
  id: string | undefined,
  which: Which,
): Promise<Checker | undefined> {
  const checks: Checker[] = [];
  if (own) {
    const outcome = compiled.compile(own, new Map());
    checks.push(outcome.kind === 'compiled' ? fits(outcome.schema, which) : () => `the ${which} schema cannot be used`);
  }
  if (id !== undefined && id !== '') {
    const found = await find(id);
    if (found.kind === 'ready') checks.push(fits(found.schema, which));
    else
      checks.push(
        () => `the ${which} schema ${id} ${found.kind === 'missing' ? 'is not registered' : 'cannot be used'}`,
      );
  }
  if (checks.length === 0) return undefined;
  return (value) => checks.map((check) => check(value)).find((wrong) => wrong !== undefined);
}

const fits =
  (schema: CompiledSchema, which: Which): Checker =>
  (value) => {
    const violations = schema.check(value ?? null);
    if (violations.length === 0) return undefined;
    const texts = violations.slice(0, shown).map(({ path, message }) => `${path} ${message}`);
    return `the ${which} does not fit its schema: ${texts.join('; ')}`;
  };
