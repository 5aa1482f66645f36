import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** What a worker says it has done since it was last asked. */
export interface WorkerCounts {
  jobs: number;
  /** Ids of jobs it was given more than once. */
  repeated: string[];
}

/** Asks the worker what it has done since it was last asked. */
export async function workerCounts(child: ChildProcess): Promise<WorkerCounts> {
  child.send('counts?');
  const [counts] = (await once(child, 'message')) as [WorkerCounts];
  return counts;
}
