import type { Draft } from './draft';
import { runTimerId, undoIds } from './ids';
import type { UndoEntry } from './run-state';
import { render } from './scope';

/**
 * Records a succeeded step with a `compensation`: it is compensated if the run fails.
 * See docs/reference/workflows.md#compensation.
 */
export function pushUndo(draft: Draft, path: string, jobId: string, output: unknown): void {
  const at = draft.at(path);
  const { compensation } = at.node.def;
  if (!compensation) return;
  const input = render(at, compensation.input, { output });
  if (input.kind === 'bad') {
    reportUndoFailure(draft, { path, job_id: jobId }, `cannot be compensated: ${input.message}`);
    return;
  }
  const { topic, timeout_sec } = compensation;
  draft.run.undo.push({
    path,
    job_id: jobId,
    topic: topic.startsWith('job.') ? topic : `job.${topic}`,
    ...(compensation.input !== undefined && { input: input.value }),
    ...(timeout_sec !== undefined && timeout_sec > 0 && { timeout_sec }),
  });
}

/** Compensates the newest remaining step, one at a time. @returns whether there is one */
export function undoNext(draft: Draft): boolean {
  const { run, context } = draft;
  const entry = run.undo.at(-1);
  if (!entry || !run.ending) return false;
  if (run.ending.undoing !== undefined) return true;
  const { node } = draft.at(entry.path);
  const { jobId, idempotencyKey } = undoIds([
    run.id,
    entry.job_id,
    entry.topic,
    node.def.meta?.capability ?? '',
    entry.path,
  ]);
  run.ending.undoing = jobId;
  draft.edit(entry.path).compensated = true;
  const timeoutMs = entry.timeout_sec === undefined ? context.limits.compensationTimeoutMs : entry.timeout_sec * 1_000;
  draft.emit({
    kind: 'compensate',
    id: jobId,
    jobId,
    idempotencyKey,
    step: node.id,
    undoes: entry.job_id,
    topic: entry.topic,
    input: entry.input ?? { step_id: entry.path, job_id: entry.job_id },
    timeoutMs,
  });
  draft.setTimerId(undoTimer(draft), context.nowMs + timeoutMs + context.limits.timeoutGraceMs);
  draft.note('step_compensation_started', { step_id: entry.path, job_id: jobId });
  return true;
}

/** The current compensation ended, successfully or not: it is not retried, and the next one follows. */
export function undoEnded(draft: Draft, failure?: string): void {
  const { ending, undo } = draft.run;
  if (ending?.undoing === undefined) return;
  draft.clearTimerId(undoTimer(draft));
  draft.confirm(ending.undoing);
  delete ending.undoing;
  const entry: UndoEntry | undefined = undo.pop();
  if (entry && failure !== undefined) reportUndoFailure(draft, entry, failure);
}

/** Numbered by the remaining steps, so that the timer of one compensation cannot end the next. */
const undoTimer = (draft: Draft): string => runTimerId(draft.run.id, `undo${draft.run.undo.length}`);
export const isUndoTimer = (draft: Draft, timerId: string): boolean => timerId === undoTimer(draft);

function reportUndoFailure(draft: Draft, { path, job_id }: Pick<UndoEntry, 'path' | 'job_id'>, message: string): void {
  draft.note('step_compensation_failed', { step_id: path, message });
  const alert = {
    level: 'error',
    message: `${path}: ${message}`,
    component: 'workflow-engine',
    trace_id: draft.run.id,
  };
  draft.emit({
    kind: 'notify',
    id: `undo:${job_id}`,
    step: draft.at(path).node.id,
    alert,
  });
}
