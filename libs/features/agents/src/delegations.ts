import {
  AppError,
  type AuditAct,
  type Caller,
  type DelegateBody,
  type DelegationPage,
  type DelegationToken,
  type DelegationView,
  type ListDelegationsQuery,
  type RevokeDelegationBody,
  type RevokedDelegation,
  type VerifiedDelegation,
  type VerifyDelegationBody,
} from '@svc/contract';
import { delegate, type DelegationClaims, type DelegationKeys, signToken } from '@svc/delegation';
import type { AgentRecord, StoredDelegation } from '@svc/store';
import { type ActContext, type AgentDeps, findAgent } from './agent-deps';
import type { AgentLinks } from './agent-links';
import { toAgents } from './check-agent';
import { type Verification, type VerifyDeps, verifyToken } from './verify-token';

export interface DelegationDeps extends Omit<AgentDeps, 'store' | 'clock'>, Omit<VerifyDeps, 'clock'> {
  clock: AgentDeps['clock'];
  links: Pick<AgentLinks, 'find'>;
}

const DEFAULT_TTL_SEC = 900;

/**
 * Issues a token with which another agent acts for this one. See docs/reference/agents.md#delegations.
 *
 * @throws access_denied, delegation_unavailable, delegation_agent_not_found, delegation_request_invalid,
 *   delegation_scope_exceeded, delegation_chain_too_deep, delegation_rate_limited
 */
export async function issueDelegation(
  deps: DelegationDeps,
  context: ActContext,
  subjectId: string,
  body: DelegateBody,
): Promise<DelegationToken> {
  const { caller } = context;
  const keys = requireKeys(deps);
  const subject = await requireActive(deps, caller, subjectId);
  const { tenant } = subject;
  const isAdmin = caller.role === 'admin' || caller.allowCrossTenant;
  if (!isAdmin && (await deps.links.find(tenant, caller.principalId)) !== subjectId)
    throw new AppError('access_denied');
  const target = await requireActive(deps, caller, body.target_agent_id);
  if (target.tenant !== tenant) throw new AppError('delegation_agent_not_found');
  if (target.agent.id === subjectId) throw invalid('target_agent_id', 'must be another agent');
  const parent = await readParent(deps, keys, body.parent_token, { tenant, subjectId });
  const outcome = delegate({
    subject: subject.agent,
    ...{ audience: target.agent.id, tenant, parent: parent?.claims, maxDepth: deps.delegation.maxDepth },
    ...{ actions: body.allowed_actions, topics: body.allowed_topics },
    ttlSec: body.ttl_seconds || DEFAULT_TTL_SEC,
    jti: deps.random.uuid().replaceAll('-', ''),
    nowSec: Math.floor(deps.clock.nowMs() / 1_000),
  });
  if ('fault' in outcome)
    throw new AppError(outcome.fault === 'scope_exceeded' ? 'delegation_scope_exceeded' : 'delegation_chain_too_deep');
  const { claims } = outcome;
  const agents = toAgents([subject, target, ...(parent?.agents ?? [])]);
  const stored = await deps.store.delegations.issue({ claims, agents, act: issueAct(context, claims) });
  if (stored === 'limited') throw new AppError('delegation_rate_limited', {}, { 'Retry-After': '60' });
  if (stored === 'agent_changed') throw new AppError('delegation_agent_not_found');
  if (stored === 'parent_revoked') throw invalid('parent_token', 'was revoked');
  const { jti, chain_depth, exp } = claims;
  return { token: signToken(claims, keys), kid: keys.signing.kid, expires_at: toIso(exp), chain_depth, jti };
}

async function readParent(
  deps: DelegationDeps,
  keys: DelegationKeys,
  token: string | undefined,
  { tenant, subjectId }: { tenant: string; subjectId: string },
): Promise<Extract<Verification, { agents: unknown }> | undefined> {
  if (!token) return undefined;
  const verified = await verifyToken(withKeys(deps, keys), token, tenant, subjectId);
  if (!('fault' in verified)) return verified;
  throw invalid('parent_token', `is refused: ${verified.fault}`);
}

/** @throws delegation_agent_not_found */
async function requireActive({ store }: DelegationDeps, { scope }: Caller, id: string): Promise<AgentRecord> {
  const record = await store.agents.get(id);
  const isSeen = record && (scope === '*' || record.tenant === scope);
  if (!isSeen || record.agent.status !== 'active') throw new AppError('delegation_agent_not_found');
  return record;
}

/** Verifies a token of the caller's tenant. @throws delegation_unavailable */
export async function verifyDelegation(
  deps: DelegationDeps,
  { tenant }: Caller,
  { token, expected_audience: audience }: VerifyDelegationBody,
): Promise<VerifiedDelegation> {
  const verified = await verifyToken(withKeys(deps, requireKeys(deps)), token, tenant, audience || undefined);
  if ('fault' in verified) return { valid: false, error_code: verified.fault };
  const { sub, aud, allowed_actions, allowed_topics, chain_depth, delegation_chain } = verified.claims;
  return { valid: true, sub, aud, allowed_actions, allowed_topics, chain_depth, delegation_chain };
}

/** @throws delegation_token_not_found, delegation_cascade_too_deep */
export async function revokeDelegation(
  deps: DelegationDeps,
  context: ActContext,
  { jti, reason = '', cascade }: RevokeDelegationBody,
): Promise<RevokedDelegation> {
  const act = (action: string): AuditAct => buildAct(action, context, { jti, cascade: String(cascade) }, reason);
  const outcome = await deps.store.delegations.revoke(context.caller.scope, {
    ...{ jti, reason, cascade, at: new Date(deps.clock.nowMs()).toISOString() },
    act: act('delegation.revoked'),
    cascadedAct: { ...act('delegation.revoked_cascade') },
  });
  if (outcome.kind === 'missing') throw new AppError('delegation_token_not_found');
  if (outcome.kind === 'too_deep') throw new AppError('delegation_cascade_too_deep');
  return { jti, cascaded_count: outcome.cascaded };
}

const PAGE_READ = 200;
/** Tokens read for one page, which bounds the time of a search that finds few. */
const MAX_READ = 5_000;

/** Tokens of the tenant, or of one of its agents. @throws agent_not_found, delegation_request_invalid */
export async function listDelegations(
  deps: DelegationDeps,
  caller: Caller,
  query: ListDelegationsQuery,
  agent?: string,
): Promise<DelegationPage> {
  if (agent !== undefined) await findAgent(deps, caller.scope, agent);
  const { delegations } = deps.store;
  const nowSec = deps.clock.nowMs() / 1_000;
  let beforeUs = query.cursor === undefined ? undefined : parseCursor(query.cursor);
  const items: DelegationView[] = [];
  for (let total = 0; total < MAX_READ; total += PAGE_READ) {
    const { rows, read, lastUs } = await delegations.page({ tenant: caller.tenant, agent }, PAGE_READ, beforeUs);
    for (const row of rows) {
      const isHeld =
        row.revokedAt === undefined && (await delegations.hold(row.claims.delegation_chain.map(({ jti }) => jti)));
      if (!isWanted(row, query, nowSec, isHeld)) continue;
      items.push(toView(row, isHeld));
      if (items.length === query.limit) return { items, next_cursor: String(row.issuedUs) };
    }
    if (read < PAGE_READ) return { items };
    beforeUs = lastUs;
  }
  return { items, ...(beforeUs !== undefined && { next_cursor: String(beforeUs) }) };
}

function isWanted({ claims }: StoredDelegation, query: ListDelegationsQuery, nowSec: number, isHeld: boolean): boolean {
  const { status, scope, before_expiry, since_issued, until_issued } = query;
  const isExpired = claims.exp <= nowSec;
  const states = { all: true, active: isHeld && !isExpired, revoked: !isHeld, expired: isExpired };
  const part = scope?.toLowerCase();
  const texts = [...claims.allowed_actions, ...claims.allowed_topics];
  return (
    states[status] &&
    (part === undefined || texts.some((text) => text.toLowerCase().includes(part))) &&
    (before_expiry === undefined || claims.exp * 1_000 < before_expiry) &&
    (since_issued === undefined || claims.iat * 1_000 >= since_issued) &&
    (until_issued === undefined || claims.iat * 1_000 <= until_issued)
  );
}

const toView = ({ claims, revokedAt, revokedReason }: StoredDelegation, isHeld: boolean): DelegationView => ({
  jti: claims.jti,
  issuer: claims.delegation_chain[0]?.agent_id ?? claims.sub,
  subject: claims.sub,
  audience: claims.aud[0] ?? '',
  allowed_actions: claims.allowed_actions,
  allowed_topics: claims.allowed_topics,
  chain: claims.delegation_chain,
  chain_depth: claims.chain_depth,
  issued_at: toIso(claims.iat),
  expires_at: toIso(claims.exp),
  revoked: !isHeld,
  ...(revokedAt && { revoked_at: revokedAt }),
  ...(revokedReason && { revoked_reason: revokedReason }),
});

function parseCursor(cursor: string): number {
  const us = Number(cursor);
  if (Number.isSafeInteger(us) && us > 0) return us;
  throw new AppError('delegation_request_invalid', {
    violations: [{ in: 'query', field: 'cursor', message: 'must be the next_cursor of a page' }],
  });
}

/** @throws delegation_unavailable */
function requireKeys({ delegation }: VerifyDeps): DelegationKeys {
  if (!delegation.keys) throw new AppError('delegation_unavailable');
  return delegation.keys;
}

const withKeys = (deps: VerifyDeps, keys: DelegationKeys) => ({ ...deps, delegation: { ...deps.delegation, keys } });

const toIso = (sec: number): string => new Date(sec * 1_000).toISOString();

const invalid = (field: string, message: string) =>
  new AppError('delegation_request_invalid', { violations: [{ in: 'body', field, message }] });

const buildAct = (
  action: string,
  { caller, requestId }: ActContext,
  extra: Readonly<Record<string, string>>,
  reason = '',
): AuditAct => ({
  event_type: 'delegation.lineage',
  action,
  severity: action === 'delegation.issue' ? 'MEDIUM' : 'HIGH',
  identity: caller.principalId || caller.submitterId,
  ...(reason && { reason }),
  extra: { request_id: requestId, role: caller.role, key_id: caller.keyId, resource_type: 'delegation', ...extra },
});

/** Ids only: the token itself is a secret. */
const issueAct = (context: ActContext, claims: DelegationClaims): AuditAct => ({
  ...buildAct('delegation.issue', context, {
    jti: claims.jti,
    child_agent_id: claims.aud[0] ?? '',
    parent_agent_id: claims.sub,
    issuer_root: claims.delegation_chain[0]?.agent_id ?? claims.sub,
    chain_depth: String(claims.chain_depth),
    expires_at: toIso(claims.exp),
  }),
  agent_id: claims.sub,
});
