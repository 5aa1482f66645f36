import { isTruthy } from '../expressions/expression';
import { resetWithOwned } from '../planner/reset-step';
import { itemPath } from '../planner/ids';
import { getStepOutput } from '../planner/output';
import { evaluate, loopScope } from '../planner/scope';
import { failed, type StepContext, type EndedChild, type StepKind, type Outcome } from './kind';

/**
 * Repeats a step or a job while a condition holds, or until one does.
 * See docs/reference/workflows.md#loops.
 */
export const loop: StepKind = {
  composite: true,
  begin(at) {
    at.draft.edit(at.path).progress = { begun: 0, live: 0, ok: 0, bad: 0 };
    return nextRound(at) ?? { kind: 'running' };
  },
  childEnded(at, child) {
    const { draft, path } = at;
    if (child.settlement === 'bad') return failByChild(child);
    const rounds = countRounds(at) + 1;
    const { until } = at.node.def.input ?? {};
    // `until` is evaluated in the scope of the round that just ended.
    const ended =
      typeof until === 'string'
        ? evaluate(at, until, { loop: { ...loopScope(at), ...getLastOutput(child) } })
        : undefined;
    draft.edit(path).progress = { begun: rounds, live: 0, ok: rounds, bad: 0 };
    if (ended?.kind === 'bad') return failed(ended.message, 'condition_failed');
    return ended && isTruthy(ended.value) ? done(at) : nextRound(at);
  },
};

const countRounds = ({ draft, path }: StepContext): number => draft.peek(path)?.progress?.ok ?? 0;

function getLastOutput({ run }: EndedChild): { previous_output?: unknown } {
  const output = getStepOutput(run);
  return output === undefined ? {} : { previous_output: output };
}

/** Begins the next round. @returns the outcome of the loop when there is none */
function nextRound(at: StepContext): Outcome | undefined {
  const { draft, node, path } = at;
  const { condition, while: whilst, until } = node.def.input ?? {};
  const source = condition ?? whilst;
  if (typeof source === 'string') {
    const holds = evaluate(at, source, { loop: loopScope(at) });
    if (holds.kind === 'bad') return failed(holds.message, 'condition_failed');
    if (!isTruthy(holds.value)) return done(at);
  }
  const rounds = countRounds(at);
  if (rounds >= getMaxRounds(at)) {
    const bounded = source === undefined && until === undefined;
    return bounded ? done(at) : failed(`the loop did not end within ${rounds} rounds`, 'loop_cap_reached');
  }
  draft.note('step_loop_iteration', { step_id: path, data: { iteration: rounds + 1 } });
  const run = draft.edit(path);
  run.progress = { begun: rounds + 1, live: 1, ok: rounds, bad: 0 };
  const [body] = node.children;
  if (body !== undefined) resetBody(at, body);
  else draft.put(itemPath(path, rounds), { status: 'pending', attempts: run.attempts - 1, tries: 0 });
  draft.todo.push({ do: 'begin', path: body ?? itemPath(path, rounds) });
  return undefined;
}

/** Resets the body with its error handlers: each round may need them. */
function resetBody({ draft, node }: StepContext, body: string): void {
  for (const id of node.owned) if (id === body || draft.peek(id)) resetWithOwned(draft, id);
}

function getMaxRounds({ draft, node }: StepContext): number {
  const { defaultRounds, maxRounds } = draft.context.limits;
  const requested = Number(node.def.input?.['max_iterations'] ?? defaultRounds);
  return Math.min(Number.isInteger(requested) && requested >= 0 ? requested : defaultRounds, maxRounds);
}

function done(at: StepContext): Outcome {
  const { previous_output } = loopScope(at);
  const iterations = countRounds(at);
  at.draft.note('step_loop_completed', { step_id: at.path, data: { iterations } });
  return { kind: 'succeeded', output: { iterations, last_output: previous_output ?? null } };
}

function failByChild({ path, run }: EndedChild): Outcome {
  const { status, error } = run;
  return {
    kind: 'ended',
    status: status === 'denied' || status === 'timed_out' ? status : 'failed',
    error: { ...error, message: `${path}: ${error?.message ?? status}` },
  };
}
