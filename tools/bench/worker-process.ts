import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Counts of the worker since the previous request. */
export interface WorkerCounts {
  jobs: number;
  /** Ids of jobs it executed more than once. */
  repeated: string[];
}

/** Requests the worker's counts since the previous request. */
export async function workerCounts(child: ChildProcess): Promise<WorkerCounts> {
  child.send('counts?');
  const [counts] = (await once(child, 'message')) as [WorkerCounts];
  return counts;
}
