import { processorsFor } from '@svc/queues';
import type { StopDeps } from '@svc/agents';
import type { WorkerTrust } from '@svc/worker-trust';
import type { LaneDispatcher, SchedulingDeps } from '@svc/dispatch';

/** Dependencies of the scheduler's processors, consumers and loops. */
export interface SchedulerContext extends SchedulingDeps {
  laneDispatcher: LaneDispatcher;
  trust: WorkerTrust;
  agentStops: StopDeps;
  defaultTenant: string;
  /** Refreshes the load snapshot that admission control uses for jobs from the bus. */
  refreshLoad(): Promise<void>;
}

export const processor = processorsFor<SchedulerContext>();
