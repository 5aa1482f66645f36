import type { AgentScope } from './agent-scope';
import { type ChainLink, type DelegationClaims, issuer } from './claims';
import { findExcess, intersect } from './glob';

/** Tolerated difference of clocks, seconds. */
export const LEEWAY_SEC = 30;

type Grants = Pick<AgentScope, 'allowed_topics' | 'allowed_tools'>;

export interface Delegation {
  subject: { id: string } & Grants;
  audience: string;
  tenant: string;
  /** Undefined lists default to everything that the subject may delegate. */
  actions: readonly string[] | undefined;
  topics: readonly string[] | undefined;
  ttlSec: number;
  /** Claims of the verified token that the subject got; undefined for a root. */
  parent: DelegationClaims | undefined;
  maxDepth: number;
  jti: string;
  /** Unix seconds. */
  nowSec: number;
}

/**
 * Claims of a new delegation. It permits no more than the subject and its parent, and ends no later than the parent.
 */
export function delegate(
  wanted: Delegation,
): { claims: DelegationClaims } | { fault: 'scope_exceeded' | 'chain_too_deep' } {
  const { subject, audience, tenant, ttlSec, parent, maxDepth, jti, nowSec } = wanted;
  const chain = parent?.delegation_chain ?? [];
  if (chain.length + 1 > maxDepth) return { fault: 'chain_too_deep' };
  const actions = narrow(wanted.actions, subject.allowed_tools, parent?.allowed_actions);
  const topics = narrow(wanted.topics, subject.allowed_topics, parent?.allowed_topics);
  if (!actions || !topics) return { fault: 'scope_exceeded' };
  const exp = Math.min(nowSec + ttlSec, parent?.exp ?? Infinity);
  const link: ChainLink = {
    agent_id: subject.id,
    issued_at: nowSec,
    expires_at: exp,
    jti,
    parent_jti: parent?.jti ?? '',
    issued_by: chain.at(-1)?.agent_id ?? issuer,
  };
  return {
    claims: {
      ...{ iss: issuer, sub: subject.id, aud: [audience], iat: nowSec, nbf: nowSec, exp, jti, tenant },
      ...{ allowed_actions: actions, allowed_topics: topics },
      delegation_chain: [...chain, link],
      chain_depth: chain.length + 1,
      parent_token_jti: parent?.jti ?? '',
    },
  };
}

/** @returns undefined when more is wanted than the subject and its parent permit */
function narrow(
  wanted: readonly string[] | undefined,
  own: readonly string[],
  parent: readonly string[] | undefined,
): string[] | undefined {
  if (!wanted) return parent ? intersect(own, parent) : [...own];
  const isExceeded =
    findExcess(wanted, own).length > 0 || (parent !== undefined && findExcess(wanted, parent).length > 0);
  return isExceeded ? undefined : [...new Set(wanted)];
}

export interface ClaimRules {
  /** Tenant of the caller. */
  tenant: string;
  /** The agent that uses the token; undefined = any. */
  audience: string | undefined;
  maxDepth: number;
  nowSec: number;
}

export type ClaimFault = 'malformed' | 'expired' | 'not_yet_valid' | 'audience_mismatch' | 'chain_too_deep';

/** What is wrong with the claims of a token whose signature is valid; undefined for nothing. */
export function findClaimFault(claims: DelegationClaims, rules: ClaimRules): ClaimFault | undefined {
  const { delegation_chain: chain, chain_depth: depth } = claims;
  const own = chain.at(-1);
  const isChained = chain.every((link, i) => link.parent_jti === (chain[i - 1]?.jti ?? ''));
  const isOwn = own?.jti === claims.jti && own.agent_id === claims.sub && own.parent_jti === claims.parent_token_jti;
  if (claims.iss !== issuer || claims.tenant !== rules.tenant || depth !== chain.length || !isOwn || !isChained)
    return 'malformed';
  if (depth > rules.maxDepth) return 'chain_too_deep';
  if (claims.nbf > rules.nowSec + LEEWAY_SEC) return 'not_yet_valid';
  if (chain.some((link) => link.expires_at + LEEWAY_SEC <= rules.nowSec)) return 'expired';
  if (rules.audience !== undefined && !claims.aud.includes(rules.audience)) return 'audience_mismatch';
  return undefined;
}

/** Whether a delegation permits more than its subject may do by now. */
export const exceedsSubject = (
  { allowed_actions, allowed_topics }: Pick<DelegationClaims, 'allowed_actions' | 'allowed_topics'>,
  subject: Grants,
): boolean =>
  findExcess(allowed_actions, subject.allowed_tools).length > 0 ||
  findExcess(allowed_topics, subject.allowed_topics).length > 0;
