import type { BusOptions } from './index';

/** Options of a bus as in the services, with a short reconnect delay. */
export const quickOptions = (url: string): BusOptions => ({
  url,
  senderId: 'scheduler',
  jetstream: true,
  ackWaitMs: 60_000,
  maxAgeMs: 3_600_000,
  replicas: 1,
  maxAckPending: 2_048,
  pingIntervalMs: 30_000,
  reconnectWaitMs: 50,
});
