import type { McpLists, TenantMcp, TenantPolicy } from '../document/policy-document';
import { fold } from './glob';

/** One tenant's lists from all documents; `mcp` without its short forms. */
export type MergedTenant = Omit<TenantPolicy, 'mcp'> & { mcp?: McpLists & { gateway_enabled?: boolean } };

/** Lists are joined without duplicates, the smaller limit wins. See docs/reference/policy.md#documents. */
export function mergeTenants(all: readonly Record<string, TenantPolicy>[]): Record<string, MergedTenant> {
  const merged = new Map<string, MergedTenant>();
  for (const tenants of all) {
    for (const [name, tenant] of Object.entries(tenants)) {
      const key = fold(name);
      merged.set(
        key,
        join(merged.get(key) ?? {}, { ...tenant, ...(tenant.mcp && { mcp: withoutShortForms(tenant.mcp) }) }),
      );
    }
  }
  return Object.fromEntries(merged);
}

function withoutShortForms({ allow, deny, ...lists }: TenantMcp): McpLists & { gateway_enabled?: boolean } {
  return join(lists, { ...(allow && { allow_tools: allow }), ...(deny && { deny_tools: deny }) });
}

function join<T extends object>(earlier: T, later: T): T {
  const joined: T = { ...earlier };
  for (const key in later) {
    const value = later[key];
    if (value !== undefined) joined[key] = joinValue(earlier[key], value);
  }
  return joined;
}

function joinValue<V>(earlier: V | undefined, later: V): V;
function joinValue(earlier: unknown, later: unknown): unknown {
  if (earlier === undefined) return later;
  if (Array.isArray(earlier) && Array.isArray(later)) return [...new Set([...earlier, ...later])];
  if (typeof earlier === 'number' && typeof later === 'number') return Math.min(earlier, later);
  // The only flag is `gateway_enabled`; false wins.
  if (typeof earlier === 'boolean') return earlier && later === true;
  return join(Object(earlier), Object(later));
}
