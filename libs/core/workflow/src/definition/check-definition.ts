import { isRecord } from '@svc/json';
import type { ExpressionLimits } from '../expressions/expression';
import { checkKind } from './check-kinds';
import { checkSchemas, type SchemaDeps } from './check-schemas';
import { checkStructure, type StructureInput } from './check-structure';
import { checkUse } from './check-uses';
import { readWorkflow } from './definition-fields';
import { Faults } from './faults';
import { getGraph } from './graph';
import { definitionLimits } from './limits';
import { readUses, UseReader } from './uses';
import type { DefinitionFault, WorkflowDefinition } from './workflow';

export interface DefinitionDeps extends SchemaDeps {
  /** Absent = `defaultExpressionLimits`. */
  expressionLimits?: ExpressionLimits | undefined;
  /** Technical limit on steps; the license limit is separate and has its own error code. */
  maxSteps?: number | undefined;
}

export type CheckedDefinition =
  { kind: 'ok'; definition: WorkflowDefinition } | { kind: 'bad'; faults: DefinitionFault[] };

/**
 * Reads and checks a definition. The result has every fault, each with its path and a remedy.
 * `id` and `org_id` must be set; other fields set by the server are omitted from the result.
 * See docs/reference/workflows.md#definitions.
 */
export function checkDefinition(raw: unknown, deps: DefinitionDeps = {}): CheckedDefinition {
  const faults = new Faults();
  const tooMuch = sizeFault(raw);
  if (tooMuch) return { kind: 'bad', faults: [{ path: '', message: tooMuch }] };
  const read = readWorkflow(raw, [], faults);
  const rawSteps = isRecord(raw) && isRecord(raw['steps']) ? raw['steps'] : {};
  const ids = Object.keys(rawSteps);
  const maxSteps = deps.maxSteps ?? definitionLimits.maxSteps;
  if (ids.length > maxSteps) faults.add(['steps'], `has ${ids.length} steps: at most ${maxSteps}`);
  if (!read || ids.length > maxSteps) return { kind: 'bad', faults: faults.list(ids) };

  const { timeout_sec = 0, steps = {} } = read;
  const definition: WorkflowDefinition = { ...read, timeout_sec, steps };
  const graph = getGraph(definition);
  const structure: StructureInput = { steps, graph, faults, writtenIds: new Set(ids) };
  checkParameters(definition, faults);
  for (const [id, step] of Object.entries(steps)) {
    const own = rawSteps[id];
    checkKind({ step, raw: isRecord(own) ? own : {}, path: ['steps', id], workflowId: read.id ?? '', faults });
  }
  checkStructure(structure);
  checkExpressions(definition, structure, deps);
  checkSchemas(definition, deps, faults);
  return faults.count === 0 ? { kind: 'ok', definition } : { kind: 'bad', faults: faults.list(ids) };
}

function checkExpressions(definition: WorkflowDefinition, structure: StructureInput, deps: DefinitionDeps): void {
  const reader = () => new UseReader(deps.expressionLimits, structure.faults);
  for (const [id, step] of Object.entries(definition.steps)) {
    const own = reader();
    readUses(own, step, ['steps', id]);
    for (const use of own.uses) checkUse(structure, id, use);
  }
  const last = reader();
  last.template(definition.output, ['output'], 'step');
  for (const use of last.uses) checkUse(structure, undefined, use);
}

function checkParameters({ parameters = [] }: WorkflowDefinition, faults: Faults): void {
  const seen = new Set<string>();
  parameters.forEach(({ name }, index) => {
    if (seen.has(name)) faults.add(['parameters', index, 'name'], `${name} is a duplicate: choose another name`);
    seen.add(name);
  });
}

/** Checked first, without recursion: deeper values would overflow the stack of later checks. */
function sizeFault(raw: unknown): string | undefined {
  if (!isRecord(raw)) return 'a workflow must be an object';
  const open: { value: unknown; depth: number }[] = [{ value: raw, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > definitionLimits.maxDepth) return `is nested deeper than ${definitionLimits.maxDepth} levels`;
    for (const member of Object.values(value)) open.push({ value: member, depth: depth + 1 });
  }
  const bytes = Buffer.byteLength(JSON.stringify(raw));
  return bytes > definitionLimits.maxBytes ? `is ${bytes} bytes long: at most ${definitionLimits.maxBytes}` : undefined;
}
