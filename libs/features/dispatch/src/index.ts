/** Routes jobs to workers, takes their results, and repairs what a crash left behind. */
export { decideJob } from './decide-job';
export { HandOut } from './hand-out';
export { handleResult } from './handle-result';
export { InFlightRecords } from './in-flight-records';
export { ingestJob } from './ingest';
export { PlacementAtSubmission, type PlacementDeps } from './place-new-job';
export { runningFor, runtimeCap } from './place-job';
export { queueEndsMs } from './queue-entry';
export { registerHeartbeat } from './register-heartbeat';
export { releaseLostJobs } from './release-jobs';
export { reasonLabel, repairMemory, repairOpenJobs, repairSlots, replayIntents, sweepExpired } from './repair';
export type { SchedulingDeps, SchedulingEvents } from './scheduling-deps';
export { expireApproval, recheckWaiting, timeOutRunning } from './timers';
export { poolTopicLabel } from './topic-label';
export { WorkerRegistry } from './worker-registry';
export { hearHandshake, hearHeartbeat, hearProgress, loseWorker, sweepSilentWorkers, workerSnapshot } from './workers';
