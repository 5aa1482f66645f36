import { canonicalHash, isRecord } from '@svc/json';
import type { Facts, McpFacts } from '../compile/facts';
import { anyGlob } from '../compile/glob';
import { compileMcpLists } from '../compile/mcp-lists';
import type { Policy } from '../compile/merge-policies';
import { readAllowLists, readStrings } from '../config/allow-lists';
import type { McpLists } from '../document/policy-document';
import { denial, type Outcome } from './outcome';

/** A tenant's topic and MCP lists, which apply regardless of the rules. See docs/reference/policy.md#evaluation. */
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

/** The lists of the effective configuration, and its hash, which enters the snapshot when the lists were applied (4.2). */
export interface ConfigLists {
  hash: string;
  breach(facts: Facts): Outcome | undefined;
}

/** Reads `safety` of the effective configuration; undefined when it lists nothing. */
export function configLists(effectiveConfig: unknown): ConfigLists | undefined {
  const safety = isRecord(effectiveConfig) ? effectiveConfig['safety'] : undefined;
  if (!isRecord(safety)) return undefined;
  const denied = readStrings(safety['denied_topics']);
  const allowed = readAllowLists(safety['allowed_topics']);
  const mcp = readMcpLists(safety['mcp']);
  if (denied.length + allowed.length + mcp.flatMap((lists) => Object.values(lists).flat()).length === 0)
    return undefined;
  const mcpChecks = mcp.map((lists) => compileMcpLists(lists, { absentBreaches: false }));
  return {
    hash: canonicalHash(effectiveConfig),
    breach: (facts) => {
      if (anyGlob(denied)(facts.topic)) return denial(`topic ${facts.topic} is denied by configuration`);
      if (!allowed.every((list) => anyGlob(list)(facts.topic))) {
        return denial(`topic ${facts.topic} is not among those the configuration allows`);
      }
      const breach = facts.mcp && findBreach(mcpChecks, facts.mcp);
      return breach === undefined ? undefined : denial(`mcp ${breach} is not allowed by configuration`);
    },
  };
}

function findBreach(checks: readonly ((mcp: McpFacts) => string | undefined)[], mcp: McpFacts): string | undefined {
  for (const check of checks) {
    const breach = check(mcp);
    if (breach !== undefined) return breach;
  }
  return undefined;
}

/** Lists that all apply: the allow lists of several documents are checked one by one, since each of them restricts. */
function readMcpLists(mcp: unknown): McpLists[] {
  const lists = isRecord(mcp) ? mcp : {};
  const allow = {
    allow_servers: readAllowLists(lists['allow_servers']),
    allow_tools: readAllowTools(lists),
    allow_resources: readAllowLists(lists['allow_resources']),
    allow_actions: readAllowLists(lists['allow_actions']),
  };
  const deny = {
    deny_servers: readStrings(lists['deny_servers']),
    deny_tools: [...readStrings(lists['deny_tools']), ...readStrings(lists['deny'])],
    deny_resources: readStrings(lists['deny_resources']),
    deny_actions: readStrings(lists['deny_actions']),
  };
  return [deny, ...Object.entries(allow).flatMap(([name, each]) => each.map((list) => ({ [name]: list })))];
}

/** `allow` of a single document is another name of `allow_tools`; in merged configuration there is only the latter. */
function readAllowTools(lists: Record<string, unknown>): string[][] {
  const [tools = [], ...others] = readAllowLists(lists['allow_tools']);
  const both = [...tools, ...readStrings(lists['allow'])];
  return both.length === 0 ? others : [both, ...others];
}
