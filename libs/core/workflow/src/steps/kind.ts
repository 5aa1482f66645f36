import type { Action } from '../planner/actions';
import type { At } from '../planner/draft';
import type { RunError } from '../planner/run-error';
import type { Settlement, StepRun } from '../planner/run-state';

export type { At } from '../planner/draft';

/** What beginning a step, or hearing of it, comes to. */
export type Outcome =
  | { kind: 'running' }
  | { kind: 'waiting' }
  | { kind: 'succeeded'; output?: unknown; resultPtr?: string }
  | {
      kind: 'ended';
      status: 'failed' | 'denied' | 'timed_out' | 'cancelled';
      error: RunError;
      /** Another attempt may do better, if the step's rule grants one. */
      retryable?: boolean;
    };

/** A child of a composite that has ended. */
export interface EndedChild {
  path: string;
  run: StepRun;
  settlement: Settlement;
}

/** What one kind of step does. It says what it comes to; the planner alone moves states and cancels what is left over. */
export interface Kind {
  /** Its children are what is live of it. */
  composite?: boolean;
  /** Takes one of the run's job slots while it is out. */
  takesSlot?: boolean;
  /** May be tried again. */
  retries?: boolean;
  begin(at: At): Outcome;
  /** What `begin` asked the engine for, told by the record alone: made again while it is not confirmed. */
  action?(at: At): Action;
  timer?(at: At, purpose: string): Outcome | undefined;
  childEnded?(at: At, child: EndedChild): Outcome | undefined;
}

export const failed = (message: string, code?: string): Outcome => ({
  kind: 'ended',
  status: 'failed',
  error: { message, ...(code !== undefined && { code }) },
});

export const timedOut = (message: string): Outcome => ({
  kind: 'ended',
  status: 'timed_out',
  error: { message, code: 'timeout' },
  retryable: true,
});
