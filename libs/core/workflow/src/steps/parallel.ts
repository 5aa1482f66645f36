import { makeFresh } from '../planner/fresh';
import { outputOf } from '../planner/output';
import type { Progress } from '../planner/run-state';
import { failed, type At, type Kind, type Outcome } from './kind';

/** Runs steps of its own side by side, until enough of them succeeded. See docs/reference/workflows.md#parallel. */
export const parallel: Kind = {
  composite: true,
  begin(at) {
    const { draft, path } = at;
    const children = childrenOf(at);
    const needed = neededOf(at, children.length);
    if (needed === undefined) return failed('strategy cannot be met: required must be from 1 to the number of steps');
    draft.note('step_parallel_started', { step_id: path, data: { steps: children.length, needed } });
    if (children.length === 0) return done(at);
    draft.edit(path).progress = { begun: 0, live: 0, ok: 0, bad: 0 };
    beginMore(at, children);
    return { kind: 'running' };
  },
  childEnded(at, { settlement }) {
    const { draft, path } = at;
    const children = childrenOf(at);
    const before = progressOf(at);
    const progress = { ...before, live: before.live - 1 };
    if (settlement === 'ok') progress.ok += 1;
    else progress.bad += 1;
    draft.edit(path).progress = progress;
    const needed = neededOf(at, children.length) ?? 0;
    if (progress.ok >= needed) return done(at);
    if (children.length - progress.bad < needed) return failedBy(at, children, needed);
    beginMore(at, children);
    return undefined;
  },
};

const progressOf = ({ draft, path }: At): Progress => draft.edit(path).progress ?? { begun: 0, live: 0, ok: 0, bad: 0 };

const childrenOf = ({ node }: At): readonly string[] => node.children;

/** @returns how many must succeed; undefined when that cannot be */
function neededOf({ node }: At, count: number): number | undefined {
  const { strategy = 'all', required } = node.def.input ?? {};
  if (count === 0 || strategy === 'all') return count;
  if (strategy === 'any') return 1;
  const number = Number(required);
  return strategy === 'n_of_m' && Number.isInteger(number) && number >= 1 && number <= count ? number : undefined;
}

function beginMore(at: At, children: readonly string[]): void {
  const { draft, node, path } = at;
  const atOnce = node.def.max_parallel || draft.around.limits.maxParallelSteps || Infinity;
  const progress = { ...progressOf(at) };
  while (progress.live < atOnce && progress.begun < children.length) {
    const child = children[progress.begun] ?? '';
    makeFresh(draft, child);
    draft.todo.push({ do: 'begin', path: child });
    progress.begun += 1;
    progress.live += 1;
  }
  draft.edit(path).progress = progress;
}

function done(at: At): Outcome {
  const { draft, path } = at;
  draft.note('step_parallel_completed', { step_id: path });
  return { kind: 'succeeded', output: outputs(at) };
}

const outputs = (at: At): Record<string, unknown> =>
  Object.fromEntries(
    childrenOf(at).flatMap((id) => {
      const run = at.draft.peek(id);
      return run?.status === 'succeeded' ? [[id, outputOf(run) ?? null]] : [];
    }),
  );

function failedBy({ draft }: At, children: readonly string[], needed: number): Outcome {
  const id = children.find((child) => draft.peek(child)?.settled === 'bad');
  const error = id === undefined ? undefined : draft.peek(id)?.error;
  return failed(`${needed} of ${children.length} steps cannot succeed any more; ${id}: ${error?.message ?? 'ended'}`, error?.code); // prettier-ignore
}
