import type { Action } from '../planner/actions';
import type { StepContext } from '../planner/draft';
import type { RunError } from '../planner/run-error';
import type { Settlement, StepRun } from '../planner/run-state';

export type { StepContext } from '../planner/draft';

/** Result of beginning a step or applying an event to it. */
export type Outcome =
  | { kind: 'running' }
  | { kind: 'waiting' }
  | {
      kind: 'succeeded';
      output?: unknown;
      resultPtr?: string;
      /** Another job answers for its own: its output is not checked, and nothing is compensated. */
      isOfOtherJob?: boolean;
    }
  | {
      kind: 'ended';
      status: 'failed' | 'denied' | 'timed_out' | 'cancelled';
      error: RunError;
      /** A retry may succeed, if the step's retry rule allows one. */
      retryable?: boolean;
    };

/** A child of a composite that has ended. */
export interface EndedChild {
  path: string;
  run: StepRun;
  settlement: Settlement;
}

/** Behavior of one kind of step. It returns outcomes; only the planner changes states and cancels remaining work. */
export interface StepKind {
  /** Only its children count as live. */
  composite?: boolean;
  /** Uses one of the run's job slots while it is live. */
  takesSlot?: boolean;
  /** May be retried. */
  retries?: boolean;
  begin(at: StepContext): Outcome;
  /** Rebuilds the action of `begin` from the record; emitted again until confirmed. */
  action?(at: StepContext): Action;
  timer?(at: StepContext, purpose: string): Outcome | undefined;
  childEnded?(at: StepContext, child: EndedChild): Outcome | undefined;
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
