import type { LookAgain } from '@svc/queues';

/** Converts a service's retry delay into the queue's return value. */
export const retryAfter = (ms: number | undefined): LookAgain | undefined =>
  ms === undefined ? undefined : { lookAgainInMs: ms };
