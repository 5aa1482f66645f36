import { childLinks } from './links';
import type { StepDefinition } from './workflow';
import { Reach } from './reach';

/** Relations between the steps of a definition. Ids of unknown steps are ignored. */
export interface WorkflowGraph {
  /** Composite step that runs a step. An owned step is not a node of the graph, and its depends_on is ignored. */
  ownerOf: ReadonlyMap<string, string>;
  /** Steps that a parallel or loop step runs; absent = none. */
  childrenOf: ReadonlyMap<string, readonly string[]>;
  /** Steps whose on_error is this step; a handler waits until one of them fails. */
  handles: ReadonlyMap<string, readonly string[]>;
  /** Direct dependencies; none for an owned step. */
  dependenciesOf(id: string): readonly string[];
  /** Direct dependents. */
  dependentsOf(id: string): readonly string[];
  /** Whether a step is a direct or indirect dependency. */
  ancestorsOf(id: string): readonly string[];
  isAncestor(ancestor: string, of: string): boolean;
  /**
   * Whether `id` can read the output of `other`, which may have ended when `id` begins: ancestors, their owned steps and their
   * error handlers. An owned step can read the same as its owner, a handler also the step it handles.
   */
  sees(id: string, other: string): boolean;
  /** Every step in dependency order; owned steps follow their owner, handlers the step they handle. */
  order: readonly string[];
  /** Steps without dependents that are neither owned nor handlers: their outputs form the run's output. */
  sinks: readonly string[];
}

type Steps = Readonly<Record<string, StepDefinition>>;
const graphs = new WeakMap<Steps, WorkflowGraph>();

/** Cached per definition object, which must not be modified afterwards. */
export function getGraph({ steps }: { steps: Steps }): WorkflowGraph {
  const known = graphs.get(steps);
  if (known) return known;
  const graph = build(steps);
  graphs.set(steps, graph);
  return graph;
}

const none: readonly string[] = [];

function build(steps: Steps): WorkflowGraph {
  const ids = Object.keys(steps);
  const isStep = (id: unknown): id is string => typeof id === 'string' && Object.hasOwn(steps, id);
  const ownerOf = new Map<string, string>();
  const childrenOf = new Map<string, string[]>();
  const handles = new Map<string, string[]>();
  for (const [id, step] of Object.entries(steps)) {
    for (const child of childLinks(step)) {
      if (!isStep(child.id) || child.id === id || ownerOf.has(child.id)) continue;
      ownerOf.set(child.id, id);
      push(childrenOf, id, child.id);
    }
    if (isStep(step.on_error) && step.on_error !== id) push(handles, step.on_error, id);
  }
  const dependencies = new Map<string, readonly string[]>();
  const dependents = new Map<string, string[]>();
  for (const id of ids) {
    if (ownerOf.has(id)) continue;
    const own = [...new Set(steps[id]?.depends_on ?? [])].filter((other) => isStep(other) && other !== id);
    dependencies.set(id, own);
    for (const other of own) push(dependents, other, id);
  }
  const dependenciesOf = (id: string) => dependencies.get(id) ?? none;

  /** Steps that may have ended once a step has: itself, its owned steps and error handlers, transitively. */
  const endedWith = (id: string): readonly string[] => {
    const all = new Set([id]);
    for (const one of all) {
      for (const child of childrenOf.get(one) ?? none) all.add(child);
      const handler = steps[one]?.on_error;
      if (isStep(handler)) all.add(handler);
    }
    return [...all];
  };
  const ended = lazily(endedWith);
  const owned = (id: string): readonly string[] => {
    const all = new Set([id]);
    for (const one of all) for (const child of childrenOf.get(one) ?? none) all.add(child);
    return [...all];
  };
  const before = (id: string): readonly string[] => {
    const owner = ownerOf.get(id);
    return owner === undefined ? [...dependenciesOf(id), ...(handles.get(id) ?? none)] : [owner];
  };
  const order = topological(ids, before);
  const ancestors = once(() => new Reach(order, dependenciesOf, dependenciesOf));
  const visible = once(
    () =>
      new Reach(order, before, (id) => [
        ...(ownerOf.has(id) ? none : dependenciesOf(id).flatMap(ended)),
        ...(handles.get(id) ?? none).flatMap(owned),
      ]),
  );
  return {
    ownerOf,
    childrenOf,
    handles,
    dependenciesOf,
    dependentsOf: (id) => dependents.get(id) ?? none,
    ancestorsOf: (id) => ancestors().of(id),
    isAncestor: (ancestor, of) => ancestors().has(of, ancestor),
    sees: (id, other) => visible().has(id, other),
    order,
    sinks: ids.filter((id) => !dependents.has(id) && !ownerOf.has(id) && !handles.has(id)),
  };
}

const push = (map: Map<string, string[]>, key: string, value: string): void => {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
};

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function lazily<T>(make: (id: string) => T): (id: string) => T {
  const made = new Map<string, T>();
  return (id) => {
    const known = made.get(id);
    if (known !== undefined) return known;
    const value = make(id);
    made.set(id, value);
    return value;
  };
}

/** Depth-first without recursion, since a chain can be as long as the definition. A cycle is cut at its entry. */
function topological(ids: readonly string[], before: (id: string) => readonly string[]): string[] {
  const entered = new Set<string>();
  const order: string[] = [];
  for (const root of ids) {
    if (entered.has(root)) continue;
    entered.add(root);
    const open = [{ id: root, left: before(root).values() }];
    for (let top = open.at(-1); top; top = open.at(-1)) {
      const { value: next } = top.left.next();
      if (next === undefined) {
        order.push(top.id);
        open.pop();
      } else if (!entered.has(next)) {
        entered.add(next);
        open.push({ id: next, left: before(next).values() });
      }
    }
  }
  return order;
}
