import type { RetryLater } from '@svc/queues';

/** Converts a service's retry delay into the queue's return value. */
export const retryAfter = (ms: number | undefined): RetryLater | undefined =>
  ms === undefined ? undefined : { retryInMs: ms };
