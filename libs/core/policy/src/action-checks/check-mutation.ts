import { approvalObjection } from './approval-check';
import { needsHuman, refused, type ActionCheckInput, type Objection } from './action-check';
import { isDestructive } from './verbs';

/** Whether an action destroys or grants something, which requires an approval. */
export const isGrave = ({ kind, verb }: ActionCheckInput['action']): boolean =>
  kind === 'mutation' && isDestructive(verb);

/** Blocks destructive changes without an approval. See docs/reference/policy.md#action-checks. */
export async function checkMutation(given: ActionCheckInput): Promise<Objection | undefined> {
  const { action, world } = given;
  if (!isGrave(action)) return undefined;
  const ref = action.approval_claim?.approval_ref;
  if (!ref) return needsHuman('approval:none', 'a person must approve this first');
  const objection = await approvalObjection(given, ref);
  if (objection) return objection;
  if ((await world.targetExists?.(action)) === false)
    return refused('target_missing', 'there is nothing to change', 404);
  return undefined;
}
