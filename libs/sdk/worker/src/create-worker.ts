import { workerSettings } from './options';
import type { Worker, WorkerOptions } from './types';
import { RunningWorker } from './worker';

/**
 * Creates a worker without starting it.
 *
 * @throws Error naming the invalid option
 */
export const createWorker = (options: WorkerOptions): Worker => new RunningWorker(workerSettings(options));
