import { processorsFor } from '@svc/queues';
import type { HandOut, SchedulingDeps } from '@svc/services';

/** What processors and consumers of the scheduler get. */
export interface SchedulerContext extends SchedulingDeps {
  handOut: HandOut;
  defaultTenant: string;
}

export const processor = processorsFor<SchedulerContext>();
