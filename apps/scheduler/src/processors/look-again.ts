import type { LookAgain } from '@svc/queues';

/** A service's "look again in so many ms" as the queue understands it. */
export const again = (ms: number | undefined): LookAgain | undefined =>
  ms === undefined ? undefined : { lookAgainInMs: ms };
