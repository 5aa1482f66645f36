import type { Draft } from './draft';
import { getStepOutput } from './output';
import type { StepRun } from './run-state';

/** Highest attempt number of a step and its items; attempt numbers are never reused. */
const newestAttempt = (run: StepRun): number =>
  (run.children ?? []).reduce((highest, child) => Math.max(highest, child.attempts), run.attempts);

/**
 * Resets a step's record, before its first run or for another round of a loop. Attempt numbers continue, so that results of
 * an earlier round are recognized; the last output stays readable to the loop.
 */
export function resetStep(draft: Draft, id: string): void {
  const before = draft.peek(id);
  const output = before && getStepOutput(before);
  draft.put(id, {
    status: 'pending',
    attempts: before ? newestAttempt(before) : 0,
    tries: 0,
    ...(output !== undefined && { output }),
  });
}

/** Resets a step and everything it owns, including its error handlers, as far as it has begun before. */
export function resetWithOwned(draft: Draft, id: string): void {
  resetStep(draft, id);
  const node = draft.context.blueprint.node(id);
  for (const inner of node.owned) if (draft.peek(inner)) resetWithOwned(draft, inner);
}
