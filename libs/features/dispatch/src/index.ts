/** Routes jobs to workers, records their results, and repairs jobs after a crash. */
export { decideJob } from './decide-job';
export { dispatchEvents } from './dispatch-events';
export { LaneDispatcher } from './dispatch-lanes';
export { followWorkers, openRegistry } from './follow-workers';
export { handleResult } from './handle-result';
export { handleReport } from './handle-report';
export { ReportStates } from './report-states';
export { InFlightRecords } from './in-flight-records';
export { ingestJob } from './ingest';
export { openPlacement } from './open-placement';
export { PlacementAtSubmission, type PlacementDeps } from './place-new-job';
export { remainingRunMs, runtimeCap } from './place-job';
export { queueEndsMs } from './queue-entry';
export { registerHeartbeat } from './register-heartbeat';
export { releaseLostJobs } from './release-jobs';
export { reasonLabel, newRepairState, repairOpenJobs, repairSlots, replayIntents, sweepExpired } from './repair';
export { StartWrites } from './start-writes';
export type { SchedulingDeps, SchedulingEvents } from './scheduling-deps';
export { expireApproval, recheckWaiting, timeOutRunning } from './timers';
export { poolTopicLabel } from './topic-label';
export { WorkerRegistry } from './worker-registry';
export {
  handleHandshake,
  handleHeartbeat,
  handleProgress,
  releaseLostWorker,
  releaseRevokedWorker,
  sweepSilentWorkers,
  buildWorkerSnapshot,
} from './workers';
