import type { ASTNode } from '@marcbachmann/cel-js';
import type { Compiler, Run } from './compiler';
import { EvaluationError, isTruthy } from './expression';
import { spend, type State } from './state';
import { isList, isMapping, isNil, keysOf, kindOf } from './values';

/** Asks of one item; the variable already holds it. */
type Ask = (item: unknown) => unknown;
type Gather = (items: readonly unknown[], ask: Ask) => unknown;

/**
 * What is asked of every item of a list, by name. `exists` and `exists_one` are CEL's names.
 * See docs/reference/workflows.md#expressions.
 */
export const predicates: Readonly<Record<string, Gather>> = {
  any: (items, ask) => items.some((item) => isTruthy(ask(item))),
  exists: (items, ask) => items.some((item) => isTruthy(ask(item))),
  exists_one: (items, ask) => items.filter((item) => isTruthy(ask(item))).length === 1,
  all: (items, ask) => items.every((item) => isTruthy(ask(item))),
  filter: (items, ask) => items.filter((item) => isTruthy(ask(item))),
  map: (items, ask) => items.map((item) => ask(item) ?? null),
};

export interface PredicateCall {
  name: string;
  start: number;
  list: ASTNode;
  /** Name of the item inside `condition` and `body`. */
  variable: string;
  /** Items that `body` is not asked of when this is falsy. */
  condition?: ASTNode;
  body: ASTNode;
}

/** Every round pays a step beside those of its body, so nests of predicates end like anything else. */
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

  const ask = (state: State, run: Run): Ask => {
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
    const items = itemsOf(state, name, value);
    const asked = conditionRun ? items.filter((item) => isTruthy(ask(state, conditionRun)(item))) : items;
    return gather(asked, ask(state, bodyRun));
  };
}

/** A map is walked by its keys, as in CEL; nil has no items. */
function itemsOf(state: State, name: string, value: unknown): readonly unknown[] {
  if (isNil(value)) return [];
  if (isList(value)) return value;
  if (!isMapping(value)) throw new EvaluationError(`${name} looks at the items of a list, not of ${kindOf(value)}`);
  const keys = keysOf(value);
  spend(state, keys.length);
  return keys;
}
