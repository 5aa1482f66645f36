import { render } from '../planner/scope';
import { failed, type StepKind } from './kind';

/** Builds a value from other values. See docs/reference/workflows.md#steps. */
export const transform: StepKind = {
  begin(at) {
    const { draft, node, path } = at;
    const value = render(at, node.def.input);
    if (value.kind === 'bad') {
      draft.note('step_transform_failed', { step_id: path, message: value.message });
      return failed(value.message, 'transform_failed');
    }
    draft.note('step_transform_completed', { step_id: path });
    return { kind: 'succeeded', output: value.value };
  },
};
