import { contextPath, isReserved, readPath, writePath } from '../planner/context-path';
import { render } from '../planner/scope';
import { failed, type StepContext, type StepKind, type Outcome } from './kind';

/** Reads, writes or deletes one entry of the run's context. See docs/reference/workflows.md#steps. */
export const storage: StepKind = {
  begin(at) {
    const outcome = runOperation(at);
    const { draft, path } = at;
    if (outcome.kind === 'ended') draft.note('step_storage_failed', { step_id: path, message: outcome.error.message });
    else draft.note('step_storage_completed', { step_id: path });
    return outcome;
  },
};

function runOperation(at: StepContext): Outcome {
  const { draft, node } = at;
  const input = render(at, node.def.input);
  if (input.kind === 'bad') return failed(input.message, 'step_input_invalid');
  const { operation, key, value } = input.value as Record<string, unknown>;
  if (typeof key !== 'string' || key === '') return failed('storage needs a key');
  const place = contextPath(key);
  if (isReserved(place)) return failed(`ctx.${place.join('.')} is reserved`);
  switch (operation) {
    case 'read': {
      const found = readPath(draft.run.context, place);
      return found === undefined ? failed(`ctx.${place.join('.')} does not exist`) : succeeded('read', key, found);
    }
    case 'write':
      draft.run.context = writePath(draft.run.context, place, value ?? null);
      return succeeded('write', key, value ?? null);
    case 'delete':
      draft.run.context = writePath(draft.run.context, place, undefined);
      return succeeded('delete', key, null);
    default:
      return failed('operation must be read, write or delete');
  }
}

const succeeded = (operation: string, key: string, value: unknown): Outcome => ({
  kind: 'succeeded',
  output: { operation, key, value },
});
