import type { ActionBody } from '@svc/contract';

/** In order of execution. See docs/reference/policy.md#action-checks. */
export const actionCheckIds = [
  'actiongate.tenant',
  'actiongate.file',
  'actiongate.url',
  'actiongate.mcp',
  'actiongate.mutation',
  'actiongate.provenance',
] as const;
export type ActionCheckId = (typeof actionCheckIds)[number];

export type RefusalStatus = 401 | 403 | 404 | 409 | 500 | 503;

/** The objection of an action check. `subReason` and `reason` never contain text from the caller. */
export type Objection =
  | { kind: 'refused'; status: RefusalStatus; subReason: string; reason: string }
  | { kind: 'human'; subReason: string; reason: string };

export type ActionCheckFinding = Objection & { gate: ActionCheckId };

/** The actor, as authenticated and registered. */
export interface Actor {
  tenant: string;
  /** May act for every tenant. */
  isCrossTenant: boolean;
  role: string;
  agent: AgentScope | undefined;
}

/** Lists are globs; an empty one permits nothing. */
export interface AgentScope {
  isActive: boolean;
  allowedServers: readonly string[];
  allowedTools: readonly string[];
  allowedResources: readonly string[];
  entitlements: readonly string[];
}

/** The fields of an approval that action checks use. */
export interface ActionApproval {
  tenant: string;
  status: 'pending' | 'approved' | 'other';
  /** The action shown to the approvers; undefined when none was shown. */
  actionHash: string | undefined;
  /** Whether the actor resolved it, or shares an identity with the approver. */
  isOwn: boolean;
  isConsumed: boolean;
  isExpired: boolean;
}

export type Resolution =
  { kind: 'addresses'; addresses: readonly string[] } | { kind: 'no_address' } | { kind: 'failed' };

/** Lookups of action checks; each is called only by a check that runs. An absent one has no answer. */
export interface ActionCheckLookups {
  resolve(host: string): Promise<Resolution>;
  approval(ref: string): Promise<ActionApproval | undefined>;
  /** Whether the tenant has sent anything to this host before. */
  hasSeenHost?(host: string): Promise<boolean>;
  /** Whether an MCP server can be reached. */
  isReachable?(server: string): Promise<boolean>;
  /** Whether the target of a change exists. */
  targetExists?(action: ActionBody): Promise<boolean>;
  /** Verifies the claim in the audit chain. */
  verifyEvidence?(ref: string): Promise<'proven' | 'compromised' | 'missing' | 'unavailable'>;
}

export interface ActionCheckInput {
  action: ActionBody;
  actor: Actor;
  world: ActionCheckLookups;
  /** MCP argument names that configuration marks as dangerous. */
  dangerousParameters: readonly string[];
}

export const refused = (subReason: string, reason: string, status: RefusalStatus = 403): Objection => ({
  kind: 'refused',
  status,
  subReason,
  reason,
});
export const needsHuman = (subReason: string, reason: string): Objection => ({ kind: 'human', subReason, reason });
