import { machine, type EventOf, type StateOf } from '@svc/lifecycle';

/** See docs/reference/policy.md#kernel. */
export const failThreshold = 3;
export const openMs = 30_000;
export const MAX_PROBES = 3;
export const successesToClose = 2;

/** `trip`: enough failures. `probe`: the open time is over. `recover`: enough probes succeeded. `relapse`: a probe failed. */
export const breakerStates = machine('breaker', {
  trip: { from: ['closed'], to: 'open' },
  probe: { from: ['open'], to: 'half_open' },
  recover: { from: ['half_open'], to: 'closed' },
  relapse: { from: ['half_open'], to: 'open' },
});
export type BreakerState = StateOf<typeof breakerStates>;
export type BreakerEvent = EventOf<typeof breakerStates>;
