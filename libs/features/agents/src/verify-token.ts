import type { DelegationFault } from '@svc/contract';
import { type DelegationClaims, type DelegationKeys, exceedsSubject, findClaimFault, readToken } from '@svc/delegation';
import type { Clock } from '@svc/platform';
import type { AgentRecord, Store } from '@svc/store';

export interface VerifyDeps {
  store: Pick<Store, 'agents' | 'delegations'>;
  clock: Pick<Clock, 'nowMs'>;
  delegation: {
    /** Undefined: there are no tokens. */
    keys: DelegationKeys | undefined;
    maxDepth: number;
  };
}

export type Verification =
  /** `agents`: those of the chain, root first. */
  { claims: DelegationClaims; agents: readonly AgentRecord[] } | { fault: DelegationFault; claims?: DelegationClaims };

/**
 * Verifies a token: signature, claims, the current scopes of all agents of its chain, and that no token of it was revoked.
 *
 * @param audience agent that uses it; undefined = any
 */
export async function verifyToken(
  deps: VerifyDeps & { delegation: { keys: DelegationKeys } },
  token: string,
  tenant: string,
  audience: string | undefined,
): Promise<Verification> {
  const { keys, maxDepth } = deps.delegation;
  const read = readToken(token, keys);
  if ('fault' in read) return read;
  const { claims } = read;
  const nowSec = Math.floor(deps.clock.nowMs() / 1_000);
  const fault = findClaimFault(claims, { tenant, audience, maxDepth, nowSec });
  if (fault) return { fault, claims };
  const checked = await checkChain(deps, claims, tenant);
  return 'fault' in checked ? { ...checked, claims } : { claims, agents: checked.agents };
}

/** A delegation that was verified, as far as its present validity depends on it. */
export type KnownDelegation = Pick<DelegationClaims, 'allowed_actions' | 'allowed_topics'> & {
  delegation_chain: readonly { agent_id: string; jti: string }[];
};

/**
 * Whether a chain still holds: no token of it was revoked, its agents are active, and each of them may still do what the last
 * token permits.
 */
export async function checkChain(
  { store }: Pick<VerifyDeps, 'store'>,
  delegation: KnownDelegation,
  tenant: string,
): Promise<{ agents: AgentRecord[] } | { fault: 'revoked' | 'scope_exceeded' }> {
  const { delegation_chain: chain } = delegation;
  const ids = chain.map((link) => link.agent_id);
  const [isHeld, records] = await Promise.all([
    store.delegations.hold(chain.map(({ jti }) => jti)),
    store.agents.getSome(ids),
  ]);
  const agents = ids.flatMap((id) => records.get(id) ?? []);
  const isActive = agents.every((record) => record.tenant === tenant && record.agent.status === 'active');
  if (!isHeld || !isActive || agents.length !== ids.length) return { fault: 'revoked' };
  return agents.some(({ agent }) => exceedsSubject(delegation, agent)) ? { fault: 'scope_exceeded' } : { agents };
}
