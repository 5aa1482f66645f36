import type { Draft } from './draft';
import type { RerunSeed } from './events';
import { runTimerId } from './ids';

/** The first pass: creates the record of every step; those without open dependencies may begin. */
export function startRun(draft: Draft, seed: RerunSeed = { steps: {}, context: {} }): void {
  const { run, context } = draft;
  if (run.status !== 'pending') return;
  draft.enterRun('start');
  run.started_at_ms = context.nowMs;
  run.context = { ...run.context, ...seed.context };
  for (const [id, copied] of Object.entries(seed.steps)) draft.put(id, { ...copied });
  setDeadline(draft);
  for (const id of context.blueprint.order) {
    const node = context.blueprint.node(id);
    if (node.owner !== undefined || draft.peek(id)) continue;
    const open_deps = node.deps.filter((dep) => !draft.peek(dep)?.settled).length;
    draft.put(id, { status: 'pending', attempts: 0, tries: 0, open_deps });
    if (open_deps === 0) draft.todo.push({ do: 'consider', step: id });
  }
}

function setDeadline(draft: Draft): void {
  const { run, context } = draft;
  const timeoutMs = context.blueprint.definition.timeout_sec * 1_000 || context.limits.runTimeoutMs;
  if (timeoutMs <= 0) return;
  run.deadline_ms = context.nowMs + timeoutMs;
  draft.setTimerId(runTimerId(run.id, 'deadline'), run.deadline_ms);
}
