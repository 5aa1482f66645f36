import type { Draft } from './draft';
import type { RerunSeed } from './events';
import { runTimerId } from './ids';

/** The first pass: every step gets its record, and those that wait for nothing may begin. */
export function startRun(draft: Draft, seed: RerunSeed = { steps: {}, context: {} }): void {
  const { run, around } = draft;
  if (run.status !== 'pending') return;
  draft.enterRun('start');
  run.started_at_ms = around.nowMs;
  run.context = { ...run.context, ...seed.context };
  for (const [id, copied] of Object.entries(seed.steps)) draft.put(id, { ...copied });
  setDeadline(draft);
  for (const id of around.blueprint.order) {
    const node = around.blueprint.node(id);
    if (node.owner !== undefined || draft.peek(id)) continue;
    const open_deps = node.deps.filter((dep) => !draft.peek(dep)?.settled).length;
    draft.put(id, { status: 'pending', attempts: 0, tries: 0, open_deps });
    if (open_deps === 0) draft.todo.push({ do: 'consider', step: id });
  }
}

function setDeadline(draft: Draft): void {
  const { run, around } = draft;
  const timeoutMs = around.blueprint.definition.timeout_sec * 1_000 || around.limits.runTimeoutMs;
  if (timeoutMs <= 0) return;
  run.deadline_ms = around.nowMs + timeoutMs;
  draft.setTimerId(runTimerId(run.id, 'deadline'), run.deadline_ms);
}
