import type { Trace } from './trace';

/** One message as a handler gets it. */
export interface Delivery {
  subject: string;
  bytes: Uint8Array;
  /** 1 on the first delivery. Always 1 on core NATS. */
  deliveries: number;
  /** Sequence in its stream; absent on core NATS. */
  streamSeq?: number;
  trace?: Trace;
}

/** What becomes of a durable message. See docs/reference/worker-protocol.md#delivery. */
export type Outcome =
  /** Done, or failed for good: it does not come again. */
  | { kind: 'ack' }
  /** It comes again, after the delay; without one, after a time that grows with each delivery. */
  | { kind: 'nak'; delayMs?: number }
  /** It can never be handled; the reason is for the reader of the code. */
  | { kind: 'term'; reason: string };

export const ack: Outcome = { kind: 'ack' };
export const nak = (delayMs?: number): Outcome => ({ kind: 'nak', ...(delayMs !== undefined && { delayMs }) });
export const term = (reason: string): Outcome => ({ kind: 'term', reason });

/** 1 s, doubled with each delivery, at most 30 s: a handler that keeps failing must not burn its deliveries at once. */
export const redeliveryDelayMs = (deliveries: number): number => Math.min(1_000 * 2 ** (deliveries - 1), 30_000);
