import { canonicalHash } from '../compile/canonical-json';
import type { Facts } from '../compile/facts';
import { anyGlob } from '../compile/glob';
import { isRecord } from '../compile/json-path';
import { compileMcpLists } from '../compile/mcp-lists';
import type { Policy } from '../compile/merge-policies';
import { denial, type Outcome } from './outcome';

/** A tenant's topic and MCP lists, which hold whatever the rules say. Policy contract 3.2 step 8; operations 4.3. */
export function tenantBreach({ compiled }: Policy, facts: Facts): Outcome | undefined {
  const tenant = compiled.tenants.get(facts.tenant);
  if (!tenant) return undefined;
  if (tenant.deniesTopic(facts.topic)) return denial(`topic ${facts.topic} is denied to tenant ${facts.tenant}`);
  if (tenant.allowsTopic?.(facts.topic) === false) {
    return denial(`topic ${facts.topic} is not among those of tenant ${facts.tenant}`);
  }
  const breach = facts.mcp && tenant.mcpBreach(facts.mcp);
  return breach === undefined ? undefined : denial(`mcp ${breach} is not allowed to tenant ${facts.tenant}`);
}

/** The lists of the effective configuration, and its hash, which goes into the snapshot when they took part (4.2). */
export interface ConfigLists {
  hash: string;
  breach(facts: Facts): Outcome | undefined;
}

/** Reads `safety` of the effective configuration; undefined when it lists nothing. Policy contract 3.2 step 9. */
export function configLists(effectiveConfig: unknown): ConfigLists | undefined {
  const safety = isRecord(effectiveConfig) ? effectiveConfig['safety'] : undefined;
  if (!isRecord(safety)) return undefined;
  const denied = strings(safety['denied_topics']);
  const allowed = strings(safety['allowed_topics']);
  const mcp = mcpListsOf(safety['mcp']);
  if (denied.length + allowed.length + Object.values(mcp).flat().length === 0) return undefined;
  const mcpBreach = compileMcpLists(mcp, { absentBreaches: false });
  return {
    hash: canonicalHash(effectiveConfig),
    breach: (facts) => {
      if (anyGlob(denied)(facts.topic)) return denial(`topic ${facts.topic} is denied by configuration`);
      if (allowed.length > 0 && !anyGlob(allowed)(facts.topic)) {
        return denial(`topic ${facts.topic} is not among those the configuration allows`);
      }
      const breach = facts.mcp && mcpBreach(facts.mcp);
      return breach === undefined ? undefined : denial(`mcp ${breach} is not allowed by configuration`);
    },
  };
}

const strings = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((item): item is string => typeof item === 'string') : [];

function mcpListsOf(mcp: unknown) {
  const lists = isRecord(mcp) ? mcp : {};
  const list = (key: string) => strings(lists[key]);
  return {
    allow_servers: list('allow_servers'),
    deny_servers: list('deny_servers'),
    allow_tools: [...list('allow_tools'), ...list('allow')],
    deny_tools: [...list('deny_tools'), ...list('deny')],
    allow_resources: list('allow_resources'),
    deny_resources: list('deny_resources'),
    allow_actions: list('allow_actions'),
    deny_actions: list('deny_actions'),
  };
}
