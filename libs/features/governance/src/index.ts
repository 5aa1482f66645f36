/** Decisions, approvals and their times, health, cost and risk, and policy coverage of a tenant. */
export { CachedReads } from './cached-reads';
export {
  type DecisionLog,
  type LoggedDecision,
  type LoggedResolution,
  type LogRange,
  type Placed,
  RedisDecisionLog,
} from './decision-log';
export type { GovernanceDeps, GovernanceEvents } from './governance-deps';
export { AuditFollower } from './follow-audit';
export { scanLog } from './scan-log';
export { governanceRoutes, type GovernanceContext } from './routes';
