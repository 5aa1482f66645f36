import { CompileCache, type CompiledSchema } from '@svc/schema';
import type { SchemaCheck, StepDefinition, WorkflowDefinition } from '@svc/workflow';
import type { SchemaCache } from '@svc/registry';

type Which = 'input' | 'output';
type Find = (id: string) => ReturnType<SchemaCache['find']>;
type Checker = (value: unknown) => string | undefined;

const compiled = new CompileCache();
const maxShown = 5;
/** Definitions without schemas (most of them), so that a pass need not scan their steps. */
const withoutSchemas = new WeakSet<WorkflowDefinition>();

/**
 * Builds the check of step inputs and outputs, with schemas of the run's tenant and of the installation. Registered
 * schemas are read beforehand, since planning does no I/O; undefined when no step has a schema.
 */
export async function buildSchemaCheck(
  book: Pick<SchemaCache, 'find'>,
  tenant: string,
  definition: WorkflowDefinition,
): Promise<SchemaCheck | undefined> {
  if (withoutSchemas.has(definition)) return undefined;
  const { steps } = definition;
  const find: Find = (id) => book.find(tenant, id);
  const checkers = new Map<StepDefinition, Partial<Record<Which, Checker>>>();
  for (const step of Object.values(steps)) {
    const input = await buildChecker(find, step.input_schema, step.input_schema_id, 'input');
    const output = await buildChecker(find, step.output_schema, step.output_schema_id, 'output');
    if (input ?? output) checkers.set(step, { ...(input && { input }), ...(output && { output }) });
  }
  if (checkers.size === 0) {
    withoutSchemas.add(definition);
    return undefined;
  }
  return (step, which, value) => checkers.get(step)?.[which]?.(value);
}

async function buildChecker(
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
    const texts = violations.slice(0, maxShown).map(({ path, message }) => `${path} ${message}`);
    return `the ${which} does not fit its schema: ${texts.join('; ')}`;
  };
