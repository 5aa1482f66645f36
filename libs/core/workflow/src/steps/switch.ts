import { switchCases, switchDefault, switchTargets, type Link } from '../definition/links';
import { evaluate } from '../planner/scope';
import { failed, type StepContext, type StepKind } from './kind';

/** Selects which of its dependent steps runs. See docs/reference/workflows.md#dependencies. */
export const switchStep: StepKind = {
  begin(at) {
    const { draft, node, path } = at;
    const subject = evaluate(at, node.def.condition ?? '');
    if (subject.kind === 'bad') return failed(subject.message, 'condition_failed');
    const matching = switchCases(node.def).find(({ match }) => matchesCase(match, subject.value));
    const target = toStepId(at, matching?.target ?? switchDefault(node.def));
    if (target === undefined)
      return failed(matching ? 'the case names no step' : 'no case matches and there is no default');
    for (const other of switchTargets(node.def)) {
      const id = toStepId(at, other);
      if (id !== undefined && id !== target) cancelBranch(at, id);
    }
    draft.note('step_switch_evaluated', { step_id: path, data: { target_step: target } });
    const matched_case = matching?.match ?? null;
    return { kind: 'succeeded', output: { matched_case, matched_value: subject.value ?? null, target_step: target } };
  },
};

const toStepId = ({ draft }: StepContext, link: Link | undefined): string | undefined =>
  typeof link?.id === 'string' && draft.context.blueprint.nodes.has(link.id) ? link.id : undefined;

function cancelBranch({ draft }: StepContext, id: string): void {
  if (draft.peek(id)?.status !== 'pending' || draft.peek(id)?.settled) return;
  draft.enter(id, 'cancel').skip_reason = 'switch_branch_not_taken';
  draft.note('step_cancelled', { step_id: id, message: 'switch_branch_not_taken' });
  draft.todo.push({ do: 'ended', path: id });
}

/** Whether a case matches: numbers and numeric texts as numbers, texts trimmed, all else as text. */
export function matchesCase(left: unknown, right: unknown): boolean {
  const [a, b] = [toComparable(left), toComparable(right)];
  if (a !== '' && b !== '' && typeof left !== 'boolean' && typeof right !== 'boolean' && Number(a) === Number(b))
    return true;
  return a === b;
}

function toComparable(value: unknown): string {
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return String(value ?? '').trim();
}
