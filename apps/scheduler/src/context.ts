import { processorsFor } from '@svc/queues';
import type { HandOut, SchedulingDeps } from '@svc/dispatch';

/** What processors and consumers of the scheduler get. */
export interface SchedulerContext extends SchedulingDeps {
  handOut: HandOut;
  defaultTenant: string;
  /** Renews the picture by which work from the bus is let in. */
  lookAtLoad(): Promise<void>;
}

export const processor = processorsFor<SchedulerContext>();
