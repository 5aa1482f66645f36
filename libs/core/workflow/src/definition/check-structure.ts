import { findCycles, cycleText } from './cycles';
import type { Faults, Path } from './faults';
import { isTemplate } from './fields';
import type { WorkflowGraph } from './graph';
import { definitionLimits } from './limits';
import { childLinks, switchTargets, type Link } from './links';
import { hint } from './nearest';
import { getStepType, type StepDefinition } from './workflow';

export interface StructureInput {
  steps: Readonly<Record<string, StepDefinition>>;
  /** Keys of `steps` as written, including invalid steps: a reference to one is not a second fault. */
  writtenIds: ReadonlySet<string>;
  graph: WorkflowGraph;
  faults: Faults;
}

/**
 * Checks that each step can run and every wait ends.
 * See docs/reference/workflows.md#definitions.
 */
export function checkStructure(input: StructureInput): void {
  const before = input.faults.count;
  for (const [id, step] of Object.entries(input.steps)) {
    checkDependencies(input, id, step);
    checkHandler(input, id, step);
    checkChildren(input, id, step);
    checkTargets(input, id, step);
  }
  checkCycles(input);
  if (input.faults.count === before) checkCanStart(input);
}

/** @returns the id, if it is the id of a step */
export function knownStep(
  { writtenIds, faults }: Omit<StructureInput, 'steps' | 'graph'>,
  { id, path }: Link,
): string | undefined {
  if (typeof id !== 'string') {
    faults.add(path, 'must be the id of a step');
    return undefined;
  }
  if (id === '' || writtenIds.has(id)) return id === '' ? undefined : id;
  if (isTemplate(id)) faults.add(path, 'must be a literal step id: the steps of a run are fixed before it starts');
  else faults.add(path, () => `names ${JSON.stringify(id.slice(0, 64))}, which is not a step${hint(id, writtenIds)}`);
  return undefined;
}

const under = (id: string, { id: other, path }: Link): Link => ({ id: other, path: ['steps', id, ...path] });

function checkDependencies(input: StructureInput, id: string, step: StepDefinition): void {
  step.depends_on?.forEach((other, index) => {
    const link = under(id, { id: other, path: ['depends_on', index] });
    if (!knownStep(input, link) || input.graph.ownerOf.has(id)) return;
    const message = dependencyFault(input, id, other);
    if (message) input.faults.add(link.path, message);
  });
}

function dependencyFault({ graph }: StructureInput, id: string, other: string): string | undefined {
  if (other === id) return 'is the step itself: remove it';
  const owner = graph.ownerOf.get(other);
  if (owner === id) return `${other} is run by this step: remove it`;
  if (owner !== undefined) return `${other} is run by ${owner}: depend on ${owner} instead`;
  const handled = graph.handles.get(other);
  return handled && `${other} only runs when ${handled.join(' or ')} fails: depend on that step instead, it counts as done once ${other} has handled it`; // prettier-ignore
}

function checkHandler(input: StructureInput, id: string, { on_error: handler }: StepDefinition): void {
  if (handler === undefined) return;
  const path: Path = ['steps', id, 'on_error'];
  if (handler === id) return input.faults.add(path, 'is the step itself: name another, or use retry');
  if (!knownStep(input, { id: handler, path })) return;
  const owner = input.graph.ownerOf.get(handler);
  if (owner !== undefined) input.faults.add(path, `${handler} is run by ${owner} and cannot wait for an error as well`);
  else if (waitsFor(input.graph, handler, id)) {
    input.faults.add(path, `${handler} depends on the step it should handle: remove its depends_on on ${id} and what follows it`); // prettier-ignore
  }
}

/** Whether a handler depends on a step that ends only after the handler has run. */
function waitsFor(graph: WorkflowGraph, handler: string, handled: string): boolean {
  const open = new Set([handled]);
  for (const one of open) {
    const owner = graph.ownerOf.get(one);
    for (const other of [...(owner === undefined ? [] : [owner]), ...(graph.handles.get(one) ?? [])]) open.add(other);
  }
  return [...open].some((one) => graph.isAncestor(one, handler));
}

function checkChildren(input: StructureInput, id: string, step: StepDefinition): void {
  const seen = new Set<unknown>();
  for (const written of childLinks(step)) {
    const link = under(id, written);
    const child = knownStep(input, link);
    if (child === undefined) continue;
    const owner = input.graph.ownerOf.get(child);
    if (child === id) {
      const instead =
        getStepType(step) === 'loop' ? 'leave it out and the loop runs itself as a job' : 'name other steps';
      input.faults.add(link.path, `is the step itself: ${instead}`);
    } else if (seen.has(child)) input.faults.add(link.path, `repeats ${child}: remove it`);
    else if (owner !== undefined && owner !== id) {
      input.faults.add(
        link.path,
        `${child} is run by ${owner} already: a step can have only one owner, so add another step`,
      );
    }
    seen.add(child);
  }
}

function checkTargets(input: StructureInput, id: string, step: StepDefinition): void {
  if (getStepType(step) !== 'switch') return;
  const owner = input.graph.ownerOf.get(id);
  if (owner !== undefined) {
    const path: Path = ['steps', id, 'type'];
    return input.faults.add(path, `a switch cannot be run by ${owner}: the steps it chooses between must depend on it, and nothing may depend on an owned step`); // prettier-ignore
  }
  for (const written of switchTargets(step)) {
    const link = under(id, written);
    const target = knownStep(input, link);
    if (target === undefined || !Object.hasOwn(input.steps, target)) continue;
    if (target === id) input.faults.add(link.path, 'is the switch itself: name another step');
    else if (!input.steps[target]?.depends_on?.includes(id)) {
      input.faults.add(link.path, `${target} would not wait for the choice: add ${id} to its depends_on`);
    } else if (input.graph.handles.has(target)) {
      input.faults.add(link.path, `${target} is an on_error step and only runs after an error`);
    } else if (input.graph.ownerOf.has(target)) {
      input.faults.add(link.path, `${target} is run by ${input.graph.ownerOf.get(target) ?? ''}: choose that step`);
    }
  }
}

function checkCycles({ steps, graph, faults }: StructureInput): void {
  const ids = Object.keys(steps);
  const nothing: readonly string[] = [];
  const most = definitionLimits.maxFaults;
  for (const cycle of findCycles(ids, graph.dependenciesOf, most)) {
    const [id = '', other = ''] = cycle.slice(-2);
    const path: Path = ['steps', id, 'depends_on', steps[id]?.depends_on?.indexOf(other) ?? 0];
    faults.add(
      path,
      `closes a cycle: ${cycleText(cycle)}, each waiting for the next: remove one of these dependencies`,
    );
  }
  const findHandler = (id: string) => {
    const handler = steps[id]?.on_error;
    return handler !== undefined && handler !== id && Object.hasOwn(steps, handler) ? [handler] : nothing;
  };
  for (const cycle of findCycles(ids, findHandler, most)) {
    faults.add(['steps', cycle.at(-2) ?? '', 'on_error'], `closes a cycle of on_error: ${cycleText(cycle)}. The last handler must have none`); // prettier-ignore
  }
  for (const cycle of findCycles(ids, (id) => graph.childrenOf.get(id) ?? nothing, most)) {
    faults.add(
      ['steps', cycle.at(-2) ?? '', 'input'],
      `closes a cycle of steps that run each other: ${cycleText(cycle)}`,
    );
  }
}

/** Reports remaining deadlocks: steps that wait for each other although each link is valid by itself. */
function checkCanStart({ steps, graph, faults }: StructureInput): void {
  const can = new Set<string>();
  const starts = (id: string): boolean => {
    const owner = graph.ownerOf.get(id);
    if (owner !== undefined) return can.has(owner);
    const handled = graph.handles.get(id);
    return (!handled || handled.some((one) => can.has(one))) && graph.dependenciesOf(id).every((one) => can.has(one));
  };
  const ids = graph.order;
  for (let before = -1; before !== can.size;) {
    before = can.size;
    for (const id of ids) if (starts(id)) can.add(id);
  }
  for (const id of Object.keys(steps)) {
    if (!can.has(id)) faults.add(['steps', id], 'can never start: everything that would start it waits for it');
  }
}
