/** Agents: their registry, their scopes, and their stop. */
export { findActingAgent, type ActingDeps, type NamedAgent } from './acting-agent';
export type { AgentDeps } from './agent-deps';
export { AgentLinks } from './agent-links';
export {
  checkAgent,
  recordRefusal,
  type AgentCheck,
  type AgentJob,
  type CheckAgentDeps,
  type PermittedAgent,
  type RefusedAgent,
} from './check-agent';
export { agentRoutes, type AgentContext } from './routes';
export { openDelegationKeys } from './delegation-keys';
export type { DelegationDeps } from './delegations';
export { acceptDelegation } from './accept-delegation';
export type { VerifyDeps } from './verify-token';
export { applyStatusSoon, completeStops, type StopDeps } from './stop-agent';
