import type { ASTNode } from '@marcbachmann/cel-js';
import type { Compiler, Run } from './compiler';
import { EvaluationError, isTruthy } from './expression';
import { spend, type State } from './state';
import { isList, isMapping, isNil, getKeys, getKind } from './values';

/** Evaluates the body for one item, which is already in its variable. */
type Evaluate = (item: unknown) => unknown;
type Gather = (items: readonly unknown[], evaluate: Evaluate) => unknown;

/**
 * Predicates over the items of a list, by name. `exists` and `exists_one` are CEL's names.
 * See docs/reference/workflows.md#expressions.
 */
export const predicates: Readonly<Record<string, Gather>> = {
  any: (items, evaluate) => items.some((item) => isTruthy(evaluate(item))),
  exists: (items, evaluate) => items.some((item) => isTruthy(evaluate(item))),
  exists_one: (items, evaluate) => items.filter((item) => isTruthy(evaluate(item))).length === 1,
  all: (items, evaluate) => items.every((item) => isTruthy(evaluate(item))),
  filter: (items, evaluate) => items.filter((item) => isTruthy(evaluate(item))),
  map: (items, evaluate) => items.map((item) => evaluate(item) ?? null),
};

export interface PredicateCall {
  name: string;
  start: number;
  list: ASTNode;
  /** Name of the item inside `condition` and `body`. */
  variable: string;
  /** Items for which this is falsy are skipped. */
  condition?: ASTNode;
  body: ASTNode;
}

/** Each round costs one step in addition to its body, so nested predicates are bounded too. */
export function compilePredicate(
  compiler: Compiler,
  { name, start, list, variable, condition, body }: PredicateCall,
): Run {
  const listRun = compiler.compile(list);
  const slot = compiler.locals.push(variable) - 1;
  const conditionRun = condition && compiler.compile(condition);
  const bodyRun = compiler.compile(body);
  compiler.locals.pop();
  const gather = predicates[name];
  if (!gather) throw new Error(`${name} is no predicate`);

  const evaluate = (state: State, run: Run): Evaluate => {
    return (item) => {
      spend(state, 1);
      state.slots[slot] = item;
      return run(state);
    };
  };
  return (state) => {
    spend(state, 1);
    const value = listRun(state);
    state.at = start;
    const items = toItems(state, name, value);
    const selected = conditionRun ? items.filter((item) => isTruthy(evaluate(state, conditionRun)(item))) : items;
    return gather(selected, evaluate(state, bodyRun));
  };
}

/** A map is iterated by its keys, as in CEL; nil has no items. */
function toItems(state: State, name: string, value: unknown): readonly unknown[] {
  if (isNil(value)) return [];
  if (isList(value)) return value;
  if (!isMapping(value)) throw new EvaluationError(`${name} works on the items of a list, not of ${getKind(value)}`);
  const keys = getKeys(value);
  spend(state, keys.length);
  return keys;
}
