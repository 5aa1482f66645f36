import { machine, type EventOf, type StateOf } from './machine';

/**
 * A run of an evaluation dataset. A small one is created running, in the request that starts it; a large one is created
 * pending, with a queue entry. `begin` repeats after a crash of the process that ran it; `abandon` applies to a run that no
 * process continues. See docs/reference/evals.md#runs.
 */
export const evalRunStates = machine('eval_run', {
  begin: { from: ['pending', 'running'], to: 'running' },
  progress: { from: ['running'], to: 'running' },
  complete: { from: ['running'], to: 'completed' },
  fail: { from: ['pending', 'running'], to: 'failed' },
  abandon: { from: ['pending', 'running'], to: 'failed' },
});

export type EvalRunStatus = StateOf<typeof evalRunStates>;
export type EvalRunEvent = EventOf<typeof evalRunStates>;
