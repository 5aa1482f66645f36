import type { DelegationFault } from '@svc/contract';
import type { JobDelegation } from '@svc/store';
import { type VerifyDeps, verifyToken } from './verify-token';

export type AcceptedDelegation =
  | { kind: 'accepted'; delegation: JobDelegation }
  | { kind: 'refused'; fault: DelegationFault }
  /** This installation has no keys for tokens. */
  | { kind: 'unavailable' };

/** Verifies the token of a submission for the agent that acts. The delegation is stored with the job, the token is not. */
export async function acceptDelegation(
  deps: VerifyDeps,
  token: string,
  { tenant, audience }: { tenant: string; audience: string },
): Promise<AcceptedDelegation> {
  const { keys, maxDepth } = deps.delegation;
  if (!keys) return { kind: 'unavailable' };
  const verified = await verifyToken({ ...deps, delegation: { keys, maxDepth } }, token, tenant, audience);
  if ('fault' in verified) return { kind: 'refused', fault: verified.fault };
  const { jti, sub, chain_depth, delegation_chain, allowed_actions, allowed_topics, exp } = verified.claims;
  const delegation: JobDelegation = {
    ...{ jti, audience, chain_depth, expires_at: exp },
    root_issuer: delegation_chain[0]?.agent_id ?? sub,
    parent_issuer: sub,
    chain: delegation_chain.map(({ issued_by: _, ...link }) => link),
    scope: { allowed_actions, allowed_topics },
    // Set when the job is permitted.
    verified_at: 0,
  };
  return { kind: 'accepted', delegation };
}
