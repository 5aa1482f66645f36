import type { Draft } from '../planner/draft';
import { itemPath } from '../planner/ids';
import { evaluate } from '../planner/scope';
import { failed, type StepContext, type EndedChild, type StepKind, type Outcome } from './kind';

/** Runs a step for each item of a list, with bounded concurrency. See docs/reference/workflows.md#fan-out. */
export const forEach: StepKind = {
  composite: true,
  begin(at) {
    const list = evaluate(at, at.node.def.for_each ?? '');
    if (list.kind === 'bad') return fail(at, list.message);
    const items = list.value ?? [];
    if (!Array.isArray(items)) return fail(at, 'for_each gives no list');
    const { maxItems } = at.draft.context.limits;
    if (items.length > maxItems)
      return fail(at, `for_each gives ${items.length} items; at most ${maxItems} are allowed`);

    const run = at.draft.edit(at.path);
    run.resolved_items = items;
    run.children = [];
    run.progress = { begun: 0, live: 0, ok: 0, bad: 0 };
    if (items.length === 0) return { kind: 'succeeded' };
    at.draft.todo.push({ do: 'begin', path: at.path });
    return { kind: 'running' };
  },
  childEnded(at, child) {
    const { draft, path, node } = at;
    const before = draft.edit(path).progress ?? { begun: 0, live: 0, ok: 0, bad: 0 };
    const good = child.settlement === 'ok';
    const progress = {
      ...before,
      live: before.live - 1,
      ok: before.ok + (good ? 1 : 0),
      bad: before.bad + (good ? 0 : 1),
    };
    draft.edit(path).progress = progress;
    if (!good && node.def.fail_fast !== false) return failByChild(at, child);
    if (progress.ok + progress.bad < (draft.peek(path)?.resolved_items?.length ?? 0)) {
      draft.todo.push({ do: 'begin', path });
      return undefined;
    }
    if (progress.bad > 0) return failByChild(at, firstFailed(at) ?? child);
    delete draft.edit(path).output;
    return { kind: 'succeeded' };
  },
};

function fail({ draft, path }: StepContext, message: string): Outcome {
  draft.note('step_foreach_failed', { step_id: path, message });
  return failed(message, 'foreach_failed');
}

function failByChild({ draft, path }: StepContext, child: EndedChild): Outcome {
  const message = `${child.path}: ${child.run.error?.message ?? child.run.status}`;
  draft.note('step_foreach_failed', { step_id: path, message });
  const { status } = child.run;
  const code = child.run.error?.code;
  return {
    kind: 'ended',
    status: status === 'denied' || status === 'timed_out' || status === 'cancelled' ? status : 'failed',
    error: { message, ...(code !== undefined && { code }) },
  };
}

function firstFailed({ draft, path }: StepContext): EndedChild | undefined {
  const children = draft.peek(path)?.children ?? [];
  const index = children.findIndex(({ status }) => status !== 'succeeded');
  const run = children[index];
  return run && { path: itemPath(path, index), run, settlement: 'bad' };
}

/** Whether another item may begin. */
export function canBeginMore(draft: Draft, id: string): boolean {
  const run = draft.peek(id);
  if (run?.status !== 'running' || !run.resolved_items || !run.progress) return false;
  const { limits, blueprint } = draft.context;
  const maxLive = blueprint.node(id).def.max_parallel || limits.maxParallelSteps || Infinity;
  return run.progress.begun < run.resolved_items.length && run.progress.live < maxLive;
}

/** Creates the record of the next item. @returns its path */
export function nextItem(draft: Draft, id: string): string {
  const run = draft.edit(id);
  const progress = run.progress ?? { begun: 0, live: 0, ok: 0, bad: 0 };
  run.progress = { ...progress, begun: progress.begun + 1, live: progress.live + 1 };
  const path = itemPath(id, progress.begun);
  // The step's attempt number is above all of earlier rounds; items continue from it.
  draft.put(path, { status: 'pending', attempts: run.attempts - 1, tries: 0 });
  return path;
}
