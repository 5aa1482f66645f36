import { switchCases, switchDefault, switchTargets, type Link } from '../definition/links';
import { evaluate } from '../planner/scope';
import { failed, type At, type Kind } from './kind';

/** Chooses which of the steps that depend on it go on. See docs/reference/workflows.md#dependencies. */
export const switchStep: Kind = {
  begin(at) {
    const { draft, node, path } = at;
    const subject = evaluate(at, node.def.condition ?? '');
    if (subject.kind === 'bad') return failed(subject.message, 'condition_failed');
    const fitting = switchCases(node.def).find(({ match }) => isCase(match, subject.value));
    const target = idOf(at, fitting?.target ?? switchDefault(node.def));
    if (target === undefined)
      return failed(fitting ? 'the case names no step' : 'no case fits and there is no default');
    for (const other of switchTargets(node.def)) {
      const id = idOf(at, other);
      if (id !== undefined && id !== target) notTaken(at, id);
    }
    draft.note('step_switch_evaluated', { step_id: path, data: { target_step: target } });
    const matched_case = fitting?.match ?? null;
    return { kind: 'succeeded', output: { matched_case, matched_value: subject.value ?? null, target_step: target } };
  },
};

const idOf = ({ draft }: At, link: Link | undefined): string | undefined =>
  typeof link?.id === 'string' && draft.around.blueprint.nodes.has(link.id) ? link.id : undefined;

function notTaken({ draft }: At, id: string): void {
  if (draft.peek(id)?.status !== 'pending' || draft.peek(id)?.settled) return;
  draft.enter(id, 'cancel').skip_reason = 'switch_branch_not_taken';
  draft.note('step_cancelled', { step_id: id, message: 'switch_branch_not_taken' });
  draft.todo.push({ do: 'ended', path: id });
}

/** Whether a case fits: numbers and numeric texts as numbers, texts trimmed, all else by text. */
export function isCase(left: unknown, right: unknown): boolean {
  const [a, b] = [plain(left), plain(right)];
  if (a !== '' && b !== '' && typeof left !== 'boolean' && typeof right !== 'boolean' && Number(a) === Number(b))
    return true;
  return a === b;
}

function plain(value: unknown): string {
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return String(value ?? '').trim();
}
