import { isTruthy } from '../expressions/expression';
import { evaluate } from '../planner/scope';
import { failed, type StepKind } from './kind';

/** Evaluates a condition for other steps to read. See docs/reference/workflows.md#steps. */
export const condition: StepKind = {
  begin(at) {
    const { draft, node, path } = at;
    const value = evaluate(at, node.def.condition ?? '');
    if (value.kind === 'bad') {
      draft.note('step_condition_failed', { step_id: path, message: value.message });
      return failed(value.message, 'condition_failed');
    }
    const output = isTruthy(value.value);
    draft.note('step_condition_evaluated', { step_id: path, data: { result: output } });
    return { kind: 'succeeded', output };
  },
};
