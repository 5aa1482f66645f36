import { processorsFor } from '@svc/queues';
import type { FireScheduleDeps, RunDeps } from '@svc/workflows';

/** What processors and loops of the engine get. */
export interface EngineContext extends RunDeps {
  schedules: FireScheduleDeps;
  /** Renews the picture by which jobs of steps are let in. */
  lookAtLoad(): Promise<void>;
}

export const processor = processorsFor<EngineContext>();
