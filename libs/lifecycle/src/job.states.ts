import { machine, type EventOf, type StateOf } from './machine';

const queued = ['PENDING', 'RETRYING', 'SCHEDULED'] as const;
const inFlight = ['SCHEDULED', 'DISPATCHED', 'RUNNING'] as const;
const live = ['PENDING', 'APPROVAL_REQUIRED', 'SCHEDULED', 'DISPATCHED', 'RUNNING', 'RETRYING'] as const;

/**
 * Spec: "Job states"; engine contract A1. No code sets a job's state but a move named here. The table is narrower than
 * the contract's "allowed moves": it names only what something in this product does.
 */
export const jobStates = machine('job', {
  // policy
  hold: { from: ['PENDING'], to: 'APPROVAL_REQUIRED' },
  release: { from: ['APPROVAL_REQUIRED'], to: 'PENDING' },
  deny: { from: ['PENDING', 'APPROVAL_REQUIRED', 'SCHEDULED'], to: 'DENIED' },
  refuse: { from: ['PENDING', 'SCHEDULED', 'RETRYING'], to: 'FAILED' },

  // to a worker and back
  dispatch: { from: queued, to: 'DISPATCHED' },
  rollBack: { from: ['DISPATCHED'], to: 'SCHEDULED' },
  start: { from: ['DISPATCHED'], to: 'RUNNING' },
  preempt: { from: ['DISPATCHED', 'RUNNING'], to: 'RETRYING' },
  retry: { from: ['DISPATCHED', 'RUNNING'], to: 'RETRYING' },
  succeed: { from: ['APPROVAL_REQUIRED', 'PENDING', ...inFlight], to: 'SUCCEEDED' },
  fail: { from: inFlight, to: 'FAILED' },

  // ends that anything can meet
  timeOut: { from: live, to: 'TIMEOUT' },
  cancel: { from: live, to: 'CANCELLED' },
  quarantine: { from: [...inFlight, 'SUCCEEDED'], to: 'OUTPUT_QUARANTINED' },
});

export type JobState = StateOf<typeof jobStates>;
export type JobEvent = EventOf<typeof jobStates>;

/** States a submission may be born in. A submission refused by policy is born PENDING and denied in the same script. */
export const birthStates = ['PENDING', 'APPROVAL_REQUIRED'] as const satisfies readonly JobState[];

export const terminalStates = [
  'SUCCEEDED',
  'FAILED',
  'DENIED',
  'TIMEOUT',
  'CANCELLED',
  'OUTPUT_QUARANTINED',
] as const satisfies readonly JobState[];

/** States in which a job holds a worker's slot and counts against concurrency limits. Engine contract A7. */
export const inFlightStates = ['DISPATCHED', 'RUNNING'] as const satisfies readonly JobState[];

/** States whose ends leave a dead letter, cancels by a user excepted. Engine contract A12. */
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
