import type { ExpressionPosition, Use } from './uses';
import type { Faults } from './faults';
import type { WorkflowGraph } from './graph';
import { hint } from './nearest';
import { getStepType, type StepDefinition } from './workflow';

export interface UseContext {
  steps: Readonly<Record<string, StepDefinition>>;
  writtenIds: ReadonlySet<string>;
  graph: WorkflowGraph;
  faults: Faults;
}

/** Names that every expression can read. See docs/reference/workflows.md#expressions. */
const everywhere = ['input', 'ctx', 'steps', 'run', 'workflow'];

/**
 * Checks that the values an expression reads exist when it is evaluated. The output of a step that has not ended reads as
 * nil, so the mistake would go unnoticed.
 *
 * @param id the step that contains it; absent for the run's output, which sees every step
 */
export function checkUse(context: UseContext, id: string | undefined, use: Use): void {
  for (const other of use.stepsRead) {
    if (other === '*') continue;
    const message = stepFault(context, id, other, use.place);
    if (message) context.faults.add(use.path, message);
  }
  const names = id === undefined ? everywhere : namesIn(context, id, use.place);
  for (const name of use.names) {
    if (!names.includes(name)) context.faults.add(use.path, () => nameFault(name, names));
  }
}

function stepFault(
  { steps, writtenIds, graph }: UseContext,
  id: string | undefined,
  other: string,
  place: ExpressionPosition,
) {
  if (!writtenIds.has(other))
    return () => `reads steps.${other.slice(0, 64)}, which is not a step${hint(other, writtenIds)}`;
  if (id === undefined || !Object.hasOwn(steps, other) || graph.sees(id, other)) return undefined;
  if (other === id) {
    if (place === 'undo' || (place === 'rounds' && isOwnBody(graph, id))) return undefined;
    return 'reads the step’s own output, which does not exist yet';
  }
  if (place === 'rounds' && isWithin(graph, other, id)) return undefined;
  return `reads steps.${other}, which may not have ended by then: ${adviceFor(graph, id, other)}`;
}

const isOwnBody = (graph: WorkflowGraph, id: string) => !graph.childrenOf.has(id);

function adviceFor(graph: WorkflowGraph, id: string, other: string): string {
  const waiting = getTopStep(graph, id);
  const wanted = getTopStep(graph, other);
  if (waiting === wanted) return `both are run by ${waiting}, in no defined order`;
  const handled = graph.handles.get(wanted);
  const before = handled ? handled.join(' or ') : wanted;
  if (before === waiting || graph.isAncestor(waiting, before)) return `it comes after ${waiting}`;
  return `add ${before} to the depends_on of ${waiting}`;
}

/** The outermost owner of a step, which is a node of the graph. */
function getTopStep(graph: WorkflowGraph, id: string): string {
  const seen = new Set([id]);
  for (let owner = graph.ownerOf.get(id); owner !== undefined && !seen.has(owner); owner = graph.ownerOf.get(id)) {
    seen.add(owner);
    id = owner;
  }
  return id;
}

const isWithin = (graph: WorkflowGraph, id: string, owner: string): boolean => getOwners(graph, id).includes(owner);

function getOwners(graph: WorkflowGraph, id: string): string[] {
  const owners = new Set<string>();
  for (let at = graph.ownerOf.get(id); at !== undefined && !owners.has(at); at = graph.ownerOf.get(at)) owners.add(at);
  return [...owners];
}

function namesIn({ steps, graph }: UseContext, id: string, place: ExpressionPosition): string[] {
  const step = steps[id];
  const inItems = (place === 'items' || place === 'undo') && step?.for_each !== undefined;
  const inRounds = place === 'rounds' || inLoop(steps, graph, id);
  return [
    ...everywhere,
    ...(inItems ? ['item', 'index'] : []),
    ...(inRounds ? ['loop'] : []),
    ...(graph.handles.has(id) ? ['error'] : []),
    ...(place === 'child' ? ['child', 'subworkflow'] : []),
  ];
}

/** Whether a step is run by a loop, or handles errors of such a step. */
function inLoop(steps: UseContext['steps'], graph: WorkflowGraph, id: string): boolean {
  const open = new Set([id]);
  for (const one of open) {
    const owner = graph.ownerOf.get(one);
    if (owner !== undefined && getStepType(steps[owner] ?? {}) === 'loop') return true;
    for (const other of [...(owner === undefined ? [] : [owner]), ...(graph.handles.get(one) ?? [])]) open.add(other);
  }
  return false;
}

const scoped: Readonly<Record<string, string>> = {
  item: 'the input and the limits of a step with for_each',
  index: 'the input and the limits of a step with for_each',
  error: 'on_error steps',
  loop: 'loops and the steps they run',
  child: 'the output_mapping of a subworkflow',
  subworkflow: 'the output_mapping of a subworkflow',
};

function nameFault(name: string, names: readonly string[]): string {
  const where = Object.hasOwn(scoped, name) ? scoped[name] : undefined;
  if (where !== undefined) return `uses ${name}, which only exists in ${where}`;
  return `uses ${name.slice(0, 64)}, which is not known here${hint(name, names)}: there are ${names.join(', ')}`;
}
