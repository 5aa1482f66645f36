import type { ExecuteDeps } from '@svc/evals';
import { processorsFor } from '@svc/queues';
import type { FireScheduleDeps, RunDeps } from '@svc/workflows';

/** Dependencies of the engine's processors and loops. */
export interface EngineContext extends RunDeps {
  schedules: FireScheduleDeps;
  evals: ExecuteDeps;
  /** Refreshes the load snapshot that admission control uses for jobs of steps. */
  refreshLoad(): Promise<void>;
}

export const processor = processorsFor<EngineContext>();
