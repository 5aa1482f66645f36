import type { StartChild } from '../planner/actions';
import type { ChildRunEnded } from '../planner/events';
import { childKey } from '../planner/ids';
import { render } from '../planner/scope';
import { failed, timedOut, type StepContext, type StepKind, type Outcome } from './kind';

/** Starts a run of another workflow and waits for its end. See docs/reference/workflows.md#sub-workflows. */
export const subworkflow: StepKind = {
  retries: true,
  begin(at) {
    const { draft, node, path } = at;
    const { workflow_id, input_mapping } = node.def.input ?? {};
    const target = render(at, workflow_id);
    if (target.kind === 'bad') return failed(target.message, 'step_input_invalid');
    if (typeof target.value !== 'string' || target.value === '') return failed('input.workflow_id names no workflow');
    const above = getCallStack(at);
    if (above.includes(target.value)) return failed(`${target.value} would run within itself: ${[...above, target.value].join(' → ')}`, 'subworkflow_cycle'); // prettier-ignore
    if (above.length > draft.context.limits.maxCallDepth)
      return failed('workflows are nested too deeply', 'subworkflow_depth');
    const input = render(at, input_mapping);
    if (input.kind === 'bad') return failed(input.message, 'step_input_invalid');

    const run = draft.edit(path);
    run.input = { workflow_id: target.value, input: input.value };
    delete run.child_run_id;
    draft.emit(buildStartAction(at), path);
    draft.note('step_subworkflow_started', { step_id: path, data: { workflow_id: target.value } });
    const { timeout_sec = 0 } = node.def;
    if (timeout_sec > 0) draft.setTimer(path, 'timeout', draft.context.nowMs + timeout_sec * 1_000);
    return { kind: 'running' };
  },
  action: (at) => buildStartAction(at),
  timer: (_at, purpose) => (purpose === 'timeout' ? timedOut('the child run did not end in time') : undefined),
};

const getCallStack = ({ draft }: StepContext): string[] => [...(draft.run.call_stack ?? []), draft.run.workflow_id];

function buildStartAction(at: StepContext): StartChild {
  const { draft, node, path } = at;
  const run = draft.record(path);
  const { workflow_id, input } = run.input as { workflow_id: string; input: Record<string, unknown> };
  const key = childKey(draft.run.id, path, run.attempts);
  const child = { key, step: node.id, workflowId: workflow_id, input, callStack: getCallStack(at) };
  return { kind: 'startChild', id: key, ...child, ...(run.retried && { retried: true }) };
}

/** Outcome of a step whose child run ended. */
export function childRunEnded(at: StepContext, event: ChildRunEnded): Outcome {
  const { draft, node, path } = at;
  draft.note('step_subworkflow_completed', { step_id: path, status: event.status, data: { run_id: event.childRunId } });
  if (event.status !== 'succeeded') {
    const error = { ...event.error, message: event.error?.message ?? `the child run ended ${event.status}` };
    return {
      kind: 'ended',
      status: event.status,
      error,
      retryable: event.status === 'failed' || event.status === 'timed_out',
    };
  }
  const mapping = node.def.input?.['output_mapping'];
  if (mapping === undefined) return { kind: 'succeeded', output: event.output };
  const { kind: _kind, key: _key, letters: _letters, childRunId, ...result } = event;
  const started = draft.peek(path)?.input as { workflow_id: string; input: unknown };
  const child = { id: childRunId, workflow_id: started.workflow_id, input: started.input, ...result };
  const output = render(at, mapping, { child, subworkflow: child });
  return output.kind === 'bad'
    ? failed(output.message, 'step_output_invalid')
    : { kind: 'succeeded', output: output.value };
}
