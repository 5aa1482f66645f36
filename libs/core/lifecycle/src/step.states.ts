import { machine, type EventOf, type StateOf } from './machine';

/**
 * A retry returns to pending; the next iteration of a loop is a new record, not a transition. Steps executed inside the
 * engine, such as a transform, succeed or fail directly from pending. See docs/reference/workflows.md#states.
 */
export const stepStates = machine('step', {
  begin: { from: ['pending'], to: 'running' },
  wait: { from: ['pending', 'running'], to: 'waiting' },
  retry: { from: ['running'], to: 'pending' },
  succeed: { from: ['pending', 'running', 'waiting'], to: 'succeeded' },
  fail: { from: ['pending', 'running', 'waiting'], to: 'failed' },
  deny: { from: ['running', 'waiting'], to: 'denied' },
  timeOut: { from: ['running', 'waiting'], to: 'timed_out' },
  cancel: { from: ['pending', 'running', 'waiting'], to: 'cancelled' },
  skip: { from: ['pending'], to: 'skipped' },
});

export type StepStatus = StateOf<typeof stepStates>;
export type StepMove = EventOf<typeof stepStates>;

export const stepEnds = [
  'succeeded',
  'failed',
  'denied',
  'timed_out',
  'cancelled',
  'skipped',
] as const satisfies readonly StepStatus[];

export const isStepEnded = (status: StepStatus): boolean => (stepEnds as readonly string[]).includes(status);
