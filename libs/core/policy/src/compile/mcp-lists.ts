import type { McpLists } from '../document/policy-document';
import type { McpFacts } from './facts';
import { anyGlob } from './glob';

const kinds = ['servers', 'tools', 'resources', 'actions'] as const;

/**
 * Compiles allow and deny lists: deny wins, an empty allow list means any. See docs/reference/policy.md#rules.
 *
 * @param absentBreaches whether a request without, say, a tool is outside `allow_tools`: true for a rule's match; false
 *   for a tenant's lists, where reading a resource does not violate the list of tools
 * @returns a function that returns the violation, such as `tool drop_table`, or undefined
 */
export function compileMcpLists(
  lists: McpLists,
  { absentBreaches }: { absentBreaches: boolean },
): (mcp: McpFacts) => string | undefined {
  const checks = kinds.flatMap((kind) => {
    const allow = lists[`allow_${kind}`] ?? [];
    const deny = lists[`deny_${kind}`] ?? [];
    if (allow.length + deny.length === 0) return [];
    return [{ kind, allowed: allow.length > 0 ? anyGlob(allow) : undefined, denied: anyGlob(deny) }];
  });
  return (mcp) => {
    for (const { kind, allowed, denied } of checks) {
      const value = mcp[kind];
      const breaches =
        value === '' ? absentBreaches && allowed !== undefined : denied(value) || allowed?.(value) === false;
      if (breaches) return `${kind.slice(0, -1)} ${value}`.trim();
    }
    return undefined;
  };
}
