export { createWorker } from './create-worker';
export { DeniedError, FatalError, JobAborted, NotAppliedError, RetryableError, type AbortCause } from './errors';
export type { ArtifactOptions, GrantOptions, Job, JobConstraints, JobHandler, Worker, WorkerOptions } from './types';
export { sdkVersion } from './version';
