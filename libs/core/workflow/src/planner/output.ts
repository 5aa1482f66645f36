import type { StepRun } from './run-state';

const gathered = new WeakMap<readonly StepRun[], unknown[]>();

/**
 * Output of a step; for a fan-out the list of its items' outputs, null for an item without one.
 * See docs/reference/workflows.md#steps.
 */
export function getStepOutput(run: StepRun): unknown {
  if (run.resolved_items === undefined || run.status !== 'succeeded') return run.output;
  const children = run.children ?? [];
  const known = gathered.get(children) ?? children.map((child) => child.output ?? null);
  gathered.set(children, known);
  return known;
}
