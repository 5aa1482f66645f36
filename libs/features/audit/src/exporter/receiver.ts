import type { StoredText } from '@svc/audit-formats';

/**
 * Result of a delivery. `refused`: the receiver does not accept these events, whenever they are sent. `unavailable`: it may
 * accept them later.
 */
export type Delivery = { kind: 'delivered' } | { kind: 'refused' | 'unavailable'; reason: string };

/** Where events are delivered. */
export interface Receiver {
  /** Events of one delivery. */
  maxEvents: number;
  /** Never throws. The receiver may get events that it has, never without those before. */
  deliver(events: readonly StoredText[]): Promise<Delivery>;
}
