import { workerSettings } from './options';
import type { Worker, WorkerOptions } from './types';
import { RunningWorker } from './worker';

/**
 * A worker that is not started yet.
 *
 * @throws Error saying which option cannot be used
 */
export const createWorker = (options: WorkerOptions): Worker => new RunningWorker(workerSettings(options));
