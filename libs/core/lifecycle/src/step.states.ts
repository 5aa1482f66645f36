import { machine, type EventOf, type StateOf } from './machine';

/**
 * A retry goes back to pending; a further round of a loop is a fresh record, not a move. Steps done
 * within the engine (a transform, say) succeed or fail straight from pending. See docs/reference/workflows.md#states.
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
