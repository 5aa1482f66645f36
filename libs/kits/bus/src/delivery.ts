import { readSentBy } from '@svc/contract';
import type { Trace } from './trace';

/** A message passed to a handler. */
export interface Delivery {
  subject: string;
  bytes: Uint8Array;
  /** 1 on the first delivery. Always 1 on core NATS. */
  deliveries: number;
  /** Sequence in its stream; absent on core NATS. */
  streamSeq?: number;
  trace?: Trace;
  /** Worker whose credential opened the connection that published it. Stated by the NATS server, so it is no claim. */
  connection?: string;
}

/** The subject as the publisher used it, and the worker that the server states in it. */
export function readOrigin(subject: string): Pick<Delivery, 'subject' | 'connection'> {
  const sent = readSentBy(subject);
  return sent ? { subject: sent.subject, connection: sent.worker } : { subject };
}

/** Outcome of a durable message. See docs/reference/worker-protocol.md#delivery. */
export type Outcome =
  /** Processed or failed permanently: not redelivered. */
  | { kind: 'ack' }
  /** Redelivered after the delay; default: a delay that grows with each delivery. */
  | { kind: 'nak'; delayMs?: number }
  /** Can never be processed; the reason is for readers of the code. */
  | { kind: 'term'; reason: string };

export const ack: Outcome = { kind: 'ack' };
export const nak = (delayMs?: number): Outcome => ({ kind: 'nak', ...(delayMs !== undefined && { delayMs }) });
export const term = (reason: string): Outcome => ({ kind: 'term', reason });

/** 1 s, doubled with each delivery, at most 30 s: so that a failing handler does not use up its deliveries at once. */
export const redeliveryDelayMs = (deliveries: number): number => Math.min(1_000 * 2 ** (deliveries - 1), 30_000);
