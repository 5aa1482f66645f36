import { machine, type EventOf, type StateOf } from './machine';

const queued = ['PENDING', 'RETRYING', 'SCHEDULED'] as const;
const inFlight = ['SCHEDULED', 'DISPATCHED', 'RUNNING'] as const;
const live = ['PENDING', 'APPROVAL_REQUIRED', 'SCHEDULED', 'DISPATCHED', 'RUNNING', 'RETRYING'] as const;

/**
 * All state transitions of a job in this product. The protocol allows more, which clients must accept.
 * See docs/reference/jobs.md#states.
 */
export const jobStates = machine('job', {
  // policy
  hold: { from: ['PENDING'], to: 'APPROVAL_REQUIRED' },
  release: { from: ['APPROVAL_REQUIRED'], to: 'PENDING' },
  deny: { from: ['PENDING', 'APPROVAL_REQUIRED', 'SCHEDULED'], to: 'DENIED' },
  refuse: { from: ['PENDING', 'SCHEDULED', 'RETRYING'], to: 'FAILED' },

  // dispatch and results
  dispatch: { from: queued, to: 'DISPATCHED' },
  rollBack: { from: ['DISPATCHED'], to: 'SCHEDULED' },
  start: { from: ['DISPATCHED'], to: 'RUNNING' },
  preempt: { from: ['DISPATCHED', 'RUNNING'], to: 'RETRYING' },
  retry: { from: ['DISPATCHED', 'RUNNING'], to: 'RETRYING' },
  succeed: { from: ['APPROVAL_REQUIRED', 'PENDING', ...inFlight], to: 'SUCCEEDED' },
  fail: { from: inFlight, to: 'FAILED' },

  // possible in any live state, quarantine excepted
  timeOut: { from: live, to: 'TIMEOUT' },
  cancel: { from: live, to: 'CANCELLED' },
  quarantine: { from: [...inFlight, 'SUCCEEDED'], to: 'OUTPUT_QUARANTINED' },
});

export type JobState = StateOf<typeof jobStates>;
export type JobEvent = EventOf<typeof jobStates>;

/** Initial states. A submission denied by policy is created PENDING and denied in the same script. */
export const initialStates = ['PENDING', 'APPROVAL_REQUIRED'] as const satisfies readonly JobState[];

export const terminalStates = [
  'SUCCEEDED',
  'FAILED',
  'DENIED',
  'TIMEOUT',
  'CANCELLED',
  'OUTPUT_QUARANTINED',
] as const satisfies readonly JobState[];

/**
 * States in which a job holds a worker's slot and counts against concurrency limits.
 * See docs/reference/routing.md#concurrency-limits.
 */
export const inFlightStates = ['DISPATCHED', 'RUNNING'] as const satisfies readonly JobState[];

/** States that write a dead letter; a cancellation by a user writes none. See docs/reference/jobs.md#dead-letters. */
export const deadLetterStates = [
  'FAILED',
  'DENIED',
  'TIMEOUT',
  'OUTPUT_QUARANTINED',
] as const satisfies readonly JobState[];

const includes = (states: readonly string[], state: string) => states.includes(state);
export const isTerminal = (state: JobState): boolean => includes(terminalStates, state);
export const isInFlight = (state: JobState): boolean => includes(inFlightStates, state);
export const isJobState = (value: string): value is JobState => includes(jobStates.states, value);
