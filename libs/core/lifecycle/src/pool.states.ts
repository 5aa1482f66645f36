import { machine, type EventOf, type StateOf } from './machine';

/**
 * A pool is created active. `finish` is the automatic end of a drain. A config write or a new pools file replaces the table
 * of pools as a whole and may set any status.
 * See docs/reference/routing.md#draining.
 */
export const poolStates = machine('pool', {
  drain: { from: ['active'], to: 'draining' },
  finish: { from: ['draining'], to: 'inactive' },
  deactivate: { from: ['active', 'draining'], to: 'inactive' },
  activate: { from: ['draining', 'inactive'], to: 'active' },
  remove: { from: ['active', 'inactive'], to: 'deleted' },
});

/** Status of a pool that exists. */
export type PoolStatus = Exclude<StateOf<typeof poolStates>, 'deleted'>;
export type PoolEvent = EventOf<typeof poolStates>;
