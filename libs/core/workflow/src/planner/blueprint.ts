import { getGraph } from '../definition/graph';
import { getStepType, type StepDefinition, type StepType, type WorkflowDefinition } from '../definition/workflow';
import { compileExpression } from '../expressions/compile-expression';
import { compileTemplate } from '../expressions/compile-template';
import {
  EvaluationError,
  type Expression,
  type ExpressionLimits,
  type Scope,
  type Template,
} from '../expressions/expression';

/** One step as the planner sees it. Unknown step ids are dropped. */
export interface StepNode {
  id: string;
  def: StepDefinition;
  type: StepType;
  /** Steps that must be settled before it may begin. */
  deps: readonly string[];
  dependents: readonly string[];
  /** Composite that begins it. */
  runBy?: string;
  /** Composite it belongs to: the one that begins it, or the one that begins the only steps whose errors it handles. */
  owner?: string;
  /** Steps that it begins, in the order it names them. */
  children: readonly string[];
  /** Steps that belong to it. */
  owned: readonly string[];
  handler?: string;
  /** Steps whose errors it handles; it begins only when one of them fails. */
  handles: readonly string[];
}

type Bad = { kind: 'bad'; message: string };
export type Evaluated = { kind: 'ok'; value: unknown } | Bad;
type Ready<T> = { kind: 'ok'; compiled: T } | Bad;
/** Builds the names that a source reads, and no others. */
export type ScopeOf = (reads: { stepsRead: readonly string[]; names: readonly string[] }) => Scope;

/** A prepared definition: its graph, and its expressions and templates, compiled on first use. */
export class Blueprint {
  readonly nodes: ReadonlyMap<string, StepNode>;
  /** Dependencies first. */
  readonly order: readonly string[];
  readonly sinks: readonly string[];
  readonly compensates: boolean;
  private readonly expressions = new Map<string, Ready<Expression>>();
  private readonly templates = new Map<unknown, Ready<Template>>();

  constructor(
    readonly definition: WorkflowDefinition,
    private readonly limits: ExpressionLimits,
  ) {
    this.nodes = buildNodes(definition);
    const { order, sinks } = getGraph(definition);
    this.order = order;
    this.sinks = sinks;
    this.compensates = Object.values(definition.steps).some(({ compensation }) => compensation !== undefined);
  }

  node(id: string): StepNode {
    const node = this.nodes.get(id);
    if (!node) throw new Error(`the definition has no step ${id}`);
    return node;
  }

  evaluate(source: string, scopeOf: ScopeOf): Evaluated {
    const ready = known(this.expressions, source, (): Ready<Expression> => {
      const made = compileExpression(source, this.limits);
      return made.kind === 'ok' ? ok(made.expression) : bad(made.fault.message);
    });
    return ready.kind === 'bad' ? ready : attempt(() => ready.compiled.evaluate(scopeOf(ready.compiled)));
  }

  /** @param value a part of the definition; the compiled template is cached by this object */
  render(value: unknown, scopeOf: ScopeOf): Evaluated {
    const ready = known(this.templates, value, (): Ready<Template> => {
      const made = compileTemplate(value, this.limits);
      if (made.kind === 'ok') return ok(made.template);
      return bad(made.faults.map(({ path, message }) => `${path}: ${message}`).join('; '));
    });
    return ready.kind === 'bad' ? ready : attempt(() => ready.compiled.render(scopeOf(ready.compiled)));
  }
}

const blueprints = new WeakMap<WorkflowDefinition, Blueprint>();

/** Cached per definition object: pass the same object for the same revision, and do not modify it. */
export function buildBlueprint(definition: WorkflowDefinition, limits: ExpressionLimits): Blueprint {
  const made = blueprints.get(definition) ?? new Blueprint(definition, limits);
  blueprints.set(definition, made);
  return made;
}

function buildNodes(definition: WorkflowDefinition): Map<string, StepNode> {
  const graph = getGraph(definition);
  const ownerOf = new Map<string, string>();
  /** A handler belongs to the owner of the steps it handles, if they share one: a loop's next round then resets it too. */
  const owner = (id: string, above: readonly string[] = []): string | undefined => {
    if (above.includes(id)) return undefined;
    const handled = graph.handles.get(id) ?? [];
    const owners = new Set(handled.map((other) => owner(other, [...above, id])));
    return graph.ownerOf.get(id) ?? (owners.size === 1 ? [...owners][0] : undefined);
  };
  for (const id of graph.order) {
    const found = owner(id);
    if (found !== undefined) ownerOf.set(id, found);
  }
  const outermost = (id: string): string => {
    const above = ownerOf.get(id);
    return above === undefined ? id : outermost(above);
  };
  const getDeps = (id: string): string[] => {
    if (ownerOf.has(id)) return [];
    const handled = new Set((graph.handles.get(id) ?? []).map(outermost));
    const deps = graph.dependenciesOf(id).map(outermost);
    return [...new Set(deps)].filter((dep) => dep !== id && !handled.has(dep));
  };
  const deps = new Map(graph.order.map((id) => [id, getDeps(id)]));
  const dependents = inverse(deps);
  const owned = inverse(new Map([...ownerOf].map(([id, above]) => [id, [above]])));
  const buildNode = (id: string, def: StepDefinition): StepNode => ({
    id,
    def,
    type: getStepType(def),
    deps: deps.get(id) ?? [],
    dependents: dependents.get(id) ?? [],
    ...optional('runBy', graph.ownerOf.get(id)),
    ...optional('owner', ownerOf.get(id)),
    children: graph.childrenOf.get(id) ?? [],
    owned: owned.get(id) ?? [],
    ...optional('handler', graph.handles.has(def.on_error ?? '') && def.on_error !== id ? def.on_error : undefined),
    handles: graph.handles.get(id) ?? [],
  });
  return new Map(Object.entries(definition.steps).map(([id, def]) => [id, buildNode(id, def)]));
}

function inverse(lists: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const made = new Map<string, string[]>();
  for (const [id, others] of lists) for (const other of others) made.set(other, [...(made.get(other) ?? []), id]);
  return made;
}

const ok = <T>(compiled: T): Ready<T> => ({ kind: 'ok', compiled });
const bad = (message: string): Bad => ({ kind: 'bad', message });
const optional = <K extends string, V>(key: K, value: V | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };

function known<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

/** Catches only errors of the author; any other error is a defect and propagates. */
function attempt(evaluate: () => unknown): Evaluated {
  try {
    return { kind: 'ok', value: evaluate() };
  } catch (error) {
    if (error instanceof EvaluationError) return { kind: 'bad', message: error.message };
    throw error;
  }
}
