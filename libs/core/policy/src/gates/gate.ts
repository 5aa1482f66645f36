import type { ActionBody } from '@svc/contract';

/** In the order they are asked. See docs/reference/policy.md#action-checks. */
export const gateIds = [
  'actiongate.tenant',
  'actiongate.file',
  'actiongate.url',
  'actiongate.mcp',
  'actiongate.mutation',
  'actiongate.provenance',
] as const;
export type GateId = (typeof gateIds)[number];

export type RefusalStatus = 401 | 403 | 404 | 409 | 500 | 503;

/** What a gate objects to. `subReason` and `reason` are never made of what the caller sent. */
export type Objection =
  | { kind: 'refused'; status: RefusalStatus; subReason: string; reason: string }
  | { kind: 'human'; subReason: string; reason: string };

export type GateFinding = Objection & { gate: GateId };

/** Who acts, as authentication and the registries know it. */
export interface Actor {
  tenant: string;
  /** May act for every tenant. */
  isCrossTenant: boolean;
  role: string;
  agent: AgentScope | undefined;
}

/** Lists are globs; an empty one lets nothing through. */
export interface AgentScope {
  isActive: boolean;
  allowedServers: readonly string[];
  allowedTools: readonly string[];
  allowedResources: readonly string[];
  entitlements: readonly string[];
}

/** An approval as far as gates look at it. */
export interface ActionApproval {
  tenant: string;
  status: 'pending' | 'approved' | 'other';
  /** The action that people saw when they decided; undefined when they saw none. */
  actionHash: string | undefined;
  /** Whether who acts decided it, or shares an identity with who did. */
  isOwn: boolean;
  isConsumed: boolean;
  isExpired: boolean;
}

export type Resolution =
  { kind: 'addresses'; addresses: readonly string[] } | { kind: 'no_address' } | { kind: 'failed' };

/** What gates have to ask others; each is asked only by a gate that is reached. Those that are absent know nothing. */
export interface GateWorld {
  resolve(host: string): Promise<Resolution>;
  approval(ref: string): Promise<ActionApproval | undefined>;
  /** Whether the tenant has sent anything to this host before. */
  hasSeenHost?(host: string): Promise<boolean>;
  /** Whether an MCP server can be reached. */
  isReachable?(server: string): Promise<boolean>;
  /** Whether what is to be changed is there. */
  targetExists?(action: ActionBody): Promise<boolean>;
  /** Looks the claim up in the audit chain. */
  verifyEvidence?(ref: string): Promise<'proven' | 'compromised' | 'missing' | 'unavailable'>;
}

export interface GateCase {
  action: ActionBody;
  actor: Actor;
  world: GateWorld;
  /** Names of MCP arguments that configuration calls dangerous. */
  dangerousParameters: readonly string[];
}

export const refused = (subReason: string, reason: string, status: RefusalStatus = 403): Objection => ({
  kind: 'refused',
  status,
  subReason,
  reason,
});
export const needsHuman = (subReason: string, reason: string): Objection => ({ kind: 'human', subReason, reason });
