import { resetStep } from '../planner/reset-step';
import { getStepOutput } from '../planner/output';
import type { Progress } from '../planner/run-state';
import { failed, type StepContext, type StepKind, type Outcome } from './kind';

/** Runs child steps concurrently until enough of them succeeded. See docs/reference/workflows.md#parallel. */
export const parallel: StepKind = {
  composite: true,
  begin(at) {
    const { draft, path } = at;
    const children = getChildren(at);
    const needed = getRequired(at, children.length);
    if (needed === undefined) return failed('strategy cannot be met: required must be from 1 to the number of steps');
    draft.note('step_parallel_started', { step_id: path, data: { steps: children.length, needed } });
    if (children.length === 0) return done(at);
    draft.edit(path).progress = { begun: 0, live: 0, ok: 0, bad: 0 };
    beginMore(at, children);
    return { kind: 'running' };
  },
  childEnded(at, { settlement }) {
    const { draft, path } = at;
    const children = getChildren(at);
    const before = getProgress(at);
    const progress = { ...before, live: before.live - 1 };
    if (settlement === 'ok') progress.ok += 1;
    else progress.bad += 1;
    draft.edit(path).progress = progress;
    const needed = getRequired(at, children.length) ?? 0;
    if (progress.ok >= needed) return done(at);
    if (children.length - progress.bad < needed) return failByChild(at, children, needed);
    beginMore(at, children);
    return undefined;
  },
};

const getProgress = ({ draft, path }: StepContext): Progress =>
  draft.edit(path).progress ?? { begun: 0, live: 0, ok: 0, bad: 0 };

const getChildren = ({ node }: StepContext): readonly string[] => node.children;

/** @returns the number that must succeed; undefined when it is impossible */
function getRequired({ node }: StepContext, count: number): number | undefined {
  const { strategy = 'all', required } = node.def.input ?? {};
  if (count === 0 || strategy === 'all') return count;
  if (strategy === 'any') return 1;
  const number = Number(required);
  return strategy === 'n_of_m' && Number.isInteger(number) && number >= 1 && number <= count ? number : undefined;
}

function beginMore(at: StepContext, children: readonly string[]): void {
  const { draft, node, path } = at;
  const maxLive = node.def.max_parallel || draft.context.limits.maxParallelSteps || Infinity;
  const progress = { ...getProgress(at) };
  while (progress.live < maxLive && progress.begun < children.length) {
    const child = children[progress.begun] ?? '';
    resetStep(draft, child);
    draft.todo.push({ do: 'begin', path: child });
    progress.begun += 1;
    progress.live += 1;
  }
  draft.edit(path).progress = progress;
}

function done(at: StepContext): Outcome {
  const { draft, path } = at;
  draft.note('step_parallel_completed', { step_id: path });
  return { kind: 'succeeded', output: collectOutputs(at) };
}

const collectOutputs = (at: StepContext): Record<string, unknown> =>
  Object.fromEntries(
    getChildren(at).flatMap((id) => {
      const run = at.draft.peek(id);
      return run?.status === 'succeeded' ? [[id, getStepOutput(run) ?? null]] : [];
    }),
  );

function failByChild({ draft }: StepContext, children: readonly string[], needed: number): Outcome {
  const id = children.find((child) => draft.peek(child)?.settled === 'bad');
  const error = id === undefined ? undefined : draft.peek(id)?.error;
  return failed(`${needed} of ${children.length} steps cannot succeed any more; ${id}: ${error?.message ?? 'ended'}`, error?.code); // prettier-ignore
}
