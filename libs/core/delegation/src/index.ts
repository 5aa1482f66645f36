/** What agents may do, and what they may delegate to each other. */
export {
  agentRefusals,
  allowsPool,
  findAgentRefusal,
  type AgentRefusal,
  type AgentScope,
  type ScopedJob,
} from './agent-scope';
export { readToken, signToken, type ChainLink, type DelegationClaims, type DelegationKeys } from './claims';
export { delegate, exceedsSubject, findClaimFault, LEEWAY_SEC, type ClaimFault } from './delegate';
export { covers, coversAny, findExcess, intersect } from './glob';
