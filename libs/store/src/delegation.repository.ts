import type { DelegationClaims } from '@svc/delegation';
import type { AuditAct, TenantScope } from '@svc/contract';
import type { Redis } from 'ioredis';
import type { Keys } from './keys';
import { luaJson } from './lua-json';
import { runScript } from './scripts';

/** A delegation token as it is stored. */
export interface StoredDelegation {
  claims: DelegationClaims;
  /** Issue, µs: its position in lists. */
  issuedUs: number;
  revokedAt?: string;
  revokedReason?: string;
}

export interface DelegationIssue {
  claims: DelegationClaims;
  /** Agents of its chain and its audience, as in the record of a job. */
  agents: string;
  act: AuditAct;
}

export interface DelegationRevocation {
  jti: string;
  /** ISO 8601 */
  at: string;
  reason: string;
  cascade: boolean;
  act: AuditAct;
  /** Of each token below it. */
  cascadedAct: AuditAct;
}

export type IssueOutcome = 'issued' | 'agent_changed' | 'parent_revoked' | 'limited';
export type RevocationOutcome =
  { kind: 'revoked' | 'unchanged'; cascaded: number } | { kind: 'missing' } | { kind: 'too_deep' };

const DAY_SEC = 86_400;
/** After its end, so that it can be listed. */
const KEPT_SEC = 7 * DAY_SEC;
const ISSUES_PER_MINUTE = 60;
/** Tokens below one root, which bounds a cascade. */
const MAX_TREE = 1_000;
const MAX_CASCADE_DEPTH = 256;

/** Delegation tokens: issued ones, and which of them were revoked. See docs/reference/agents.md#delegations. */
export class DelegationRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  async issue({ claims, agents, act }: DelegationIssue): Promise<IssueOutcome> {
    const { jti, tenant, sub: subject, iat, exp, parent_token_jti: parent, delegation_chain: chain } = claims;
    const document = {
      ...{ jti, tenant, subject, agents, root: chain[0]?.jti ?? jti, document: JSON.stringify(claims) },
      ...(parent && { parent }),
      chain: chain.slice(0, -1).map((link) => link.jti),
      keep_sec: exp - iat + KEPT_SEC,
      max_keep_sec: DAY_SEC + KEPT_SEC,
      per_minute: ISSUES_PER_MINUTE,
      max_tree: MAX_TREE,
    };
    const args = [luaJson(document), JSON.stringify(act)];
    const reply = await runScript(this.redis, 'issueDelegation', this.keys.delegation(jti), ...args);
    return (reply as [IssueOutcome])[0];
  }

  async revoke(scope: TenantScope, revocation: DelegationRevocation): Promise<RevocationOutcome> {
    const { jti, at, reason, cascade, act, cascadedAct } = revocation;
    const acts = [JSON.stringify(act), luaJson(cascadedAct)];
    const args = [jti, scope, at, reason, cascade ? 1 : 0, MAX_CASCADE_DEPTH, ...acts];
    const reply = await runScript(this.redis, 'revokeDelegation', this.keys.delegation(jti), ...args);
    const [kind, cascaded] = reply as [RevocationOutcome['kind'], string?];
    return kind === 'revoked' || kind === 'unchanged' ? { kind, cascaded: Number(cascaded) } : { kind };
  }

  /** Whether all these tokens are stored and not revoked. */
  async hold(jtis: readonly string[]): Promise<boolean> {
    const states = await Promise.all(
      jtis.map((jti) => this.redis.hmget(this.keys.delegation(jti), 'tenant', 'revoked_at')),
    );
    return states.every(([tenant, revoked]) => tenant !== null && revoked === null);
  }

  /**
   * Tokens of a tenant, or those that one of its agents delegated, newest first. Ids of tokens that are no longer kept are
   * counted in `read` only.
   *
   * @param beforeUs issue of the last token of the page before
   */
  async page(
    of: { tenant: string; agent?: string | undefined },
    count: number,
    beforeUs?: number,
  ): Promise<{ rows: StoredDelegation[]; read: number; lastUs: number }> {
    const list = of.agent === undefined ? this.keys.delegationsOf(of.tenant) : this.keys.delegationsBy(of.agent);
    const start = beforeUs === undefined ? '+inf' : `(${beforeUs}`;
    const found = await this.redis.zrevrangebyscore(list, start, '-inf', 'WITHSCORES', 'LIMIT', 0, count);
    const rows: StoredDelegation[] = [];
    let lastUs = 0;
    const ids = found.filter((_, i) => i % 2 === 0);
    const states = await Promise.all(
      ids.map((jti) => this.redis.hmget(this.keys.delegation(jti), 'document', 'revoked_at', 'revoked_reason')),
    );
    for (const [i, [document, revokedAt, revokedReason]] of states.entries()) {
      lastUs = Number(found[i * 2 + 1]);
      if (!document) continue;
      const claims = JSON.parse(document) as DelegationClaims;
      rows.push({
        ...{ claims, issuedUs: lastUs },
        ...(revokedAt && { revokedAt }),
        ...(revokedReason && { revokedReason }),
      });
    }
    return { rows, read: ids.length, lastUs };
  }
}
