export * from './agent.repository';
export * from './api-key.repository';
export * from './audit.repository';
export { describeAct, describeContent, markSensitive, outsideAct, withAct, type OpenAct } from './audit-scope';
export * from './config.repository';
export * from './connect';
export * from './data.repository';
export * from './dead-letter.repository';
export * from './delegation.repository';
export * from './effect.repository';
export * from './event-log.repository';
export type { Acceptance, AcceptOutcome, MemoryClaim } from './job.acceptance';
export type { Claimed, ClaimRequest, DispatchedJob, EndClaim } from './job.claim';
export * from './job-endings';
export * from './job.index';
export * from './job.placement';
export * from './job.record';
export * from './job.repository';
export * from './job.result';
export type {
  DeadLetterWrite,
  MoveExtras,
  MoveOutcome,
  NoteConditions,
  ParkingQueue,
  QueueEntry,
  Retention,
} from './job.transition';
export * from './keys';
export * from './lane-arrivals';
export * from './lease';
export * from './legal-hold.repository';
export * from './tenant.repository';
export * from './limit.repository';
export * from './live-changes';
export { luaJson } from './lua-json';
export * from './load.repository';
export * from './lock.repository';
export * from './policy.repository';
export * from './redis-facts';
export * from './redis-guard';
export * from './role.repository';
export * from './run.index';
export * from './run.record';
export * from './run.repository';
export * from './run.writes';
export * from './run-wakes';
export * from './schedule.repository';
export * from './schema.repository';
export { runScript } from './scripts';
export * from './spend.repository';
export * from './shadow-result.repository';
export * from './shadow.repository';
export * from './queue-position.repository';
export * from './store';
export * from './session.repository';
export * from './user.repository';
export * from './velocity.repository';
export * from './worker.repository';
export { workerRedisRules } from './worker-redis-rules';
export * from './workflow.repository';
