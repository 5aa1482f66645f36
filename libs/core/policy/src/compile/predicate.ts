/** Facts about the chain of agents that delegated a request. */
export interface DelegationFacts {
  /** Agent ids, root first; empty without delegation. */
  chain: readonly string[];
  depth: number;
  scope: readonly string[];
}

export type DelegationTest = (delegation: DelegationFacts) => boolean;

const comparisons: Readonly<Record<string, (depth: number, bound: number) => boolean>> = {
  '>=': (depth, bound) => depth >= bound,
  '<=': (depth, bound) => depth <= bound,
  '==': (depth, bound) => depth === bound,
  '>': (depth, bound) => depth > bound,
  '<': (depth, bound) => depth < bound,
};
const same = (a: string | undefined, b: string) => a?.trim().toLowerCase() === b.trim().toLowerCase();

export const predicateForms =
  '`delegation.depth >= 2` (or <=, ==, >, <), `delegation.issuer == "id"`, `delegation.scope.contains("x")`';

/** Compiles a rule's `predicate`; undefined when it is not one of the three forms. See docs/reference/policy.md#rules. */
export function compilePredicate(text: string): DelegationTest | undefined {
  const depth = /^\s*delegation\.depth\s*(>=|<=|==|>|<)\s*(\d{1,9})\s*$/.exec(text);
  if (depth) {
    const compare = comparisons[depth[1] ?? ''];
    const bound = Number(depth[2]);
    return compare && ((delegation) => compare(delegation.depth, bound));
  }
  const issuer = /^\s*delegation\.issuer\s*==\s*"([^"]*)"\s*$/.exec(text)?.[1];
  if (issuer !== undefined) return ({ chain }) => same(chain[0], issuer);
  const scope = /^\s*delegation\.scope\.contains\(\s*"([^"]*)"\s*\)\s*$/.exec(text)?.[1];
  if (scope !== undefined) return (delegation) => delegation.scope.some((held) => same(held, scope));
  return undefined;
}
