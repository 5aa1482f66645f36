import { machine, type EventOf, type StateOf } from './machine';

const live = ['pending', 'running', 'waiting'] as const;

/**
 * A run is waiting when its only open steps wait for people or external events. It ends after its compensations have
 * ended, and terminal states are final.
 * See docs/reference/workflows.md#states.
 */
export const runStates = machine('run', {
  start: { from: ['pending'], to: 'running' },
  wait: { from: ['running'], to: 'waiting' },
  resume: { from: ['waiting'], to: 'running' },
  succeed: { from: ['running', 'waiting'], to: 'succeeded' },
  fail: { from: live, to: 'failed' },
  deny: { from: ['running', 'waiting'], to: 'denied' },
  timeOut: { from: live, to: 'timed_out' },
  cancel: { from: live, to: 'cancelled' },
});

export type RunStatus = StateOf<typeof runStates>;
export type RunMove = EventOf<typeof runStates>;

export const runEnds = [
  'succeeded',
  'failed',
  'denied',
  'timed_out',
  'cancelled',
] as const satisfies readonly RunStatus[];
export type RunEnd = (typeof runEnds)[number];

export const isRunEnded = (status: RunStatus): status is RunEnd => (runEnds as readonly string[]).includes(status);
