import { attemptId } from '../planner/ids';
import { render } from '../planner/scope';
import { failed, type StepKind } from './kind';

const text = (value: unknown, otherwise: string): string =>
  value === undefined || value === null ? otherwise : typeof value === 'string' ? value : JSON.stringify(value);

/** Publishes an alert and succeeds at once. See docs/reference/workflows.md#steps. */
export const notify: StepKind = {
  begin(at) {
    const { draft, node, path } = at;
    const input = render(at, node.def.input);
    if (input.kind === 'bad') {
      draft.note('step_event_failed', { step_id: path, message: input.message });
      return failed(input.message, 'step_input_invalid');
    }
    const { level, message, component, trace_id, details } = input.value as Record<string, unknown>;
    const id = `notify:${attemptId(draft.run.id, path, draft.edit(path).attempts)}`;
    const alert = {
      level: text(level, 'info'),
      message: text(message, ''),
      component: text(component, 'workflow-engine'),
      trace_id: text(trace_id, draft.run.id),
      ...(details !== undefined && { details }),
    };
    draft.emit({ kind: 'notify', id, step: node.id, alert });
    draft.note('step_event_emitted', { step_id: path, data: { level: alert.level } });
    return { kind: 'succeeded' };
  },
};
