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
} from './check-agent';
export { agentRoutes, type AgentContext } from './routes';
export { applyStatusSoon, completeStops, type StopDeps } from './stop-agent';
