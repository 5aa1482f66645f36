import type { Draft } from './draft';
import { outputOf } from './output';
import type { StepRun } from './run-state';

/** The highest number any attempt of a step or its items had: no later one may have it again. */
const newestAttempt = (run: StepRun): number =>
  (run.children ?? []).reduce((highest, child) => Math.max(highest, child.attempts), run.attempts);

/**
 * Makes a step's record new, for its first time or for another round of a loop. Attempts go on counting, so that results
 * of an earlier round are known as such; what it gave last stays readable to the loop.
 */
export function makeFresh(draft: Draft, id: string): void {
  const before = draft.peek(id);
  const output = before && outputOf(before);
  draft.put(id, {
    status: 'pending',
    attempts: before ? newestAttempt(before) : 0,
    tries: 0,
    ...(output !== undefined && { output }),
  });
}

/** A step and all that belongs to it, which includes handlers of its errors. Only what was begun before has a record. */
export function makeAllFresh(draft: Draft, id: string): void {
  makeFresh(draft, id);
  const node = draft.around.blueprint.node(id);
  for (const inner of node.owned) if (draft.peek(inner)) makeAllFresh(draft, inner);
}
