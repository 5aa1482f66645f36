import { bindingHash } from './binding';
import { refused, type ActionCheckInput, type Objection } from './action-check';

/**
 * Checks that the named approval allows this exact action, was resolved by someone else, is current and unused. For an
 * approval of another tenant, only the status differs from a missing one.
 */
export async function approvalObjection(
  { action, actor, world }: ActionCheckInput,
  ref: string,
): Promise<Objection | undefined> {
  const approval = await world.approval(ref);
  if (!approval) return refused('approval:not_found', 'there is no such approval', 404);
  if (approval.tenant !== actor.tenant) return refused('approval:other_tenant', 'the approval is another tenant’s');
  if (approval.isOwn) return refused('approval:self', 'an action cannot be approved by its requester');
  const fault =
    (approval.status !== 'approved' && 'not_approved') ||
    (approval.isConsumed && 'consumed') ||
    (approval.isExpired && 'expired') ||
    (approval.actionHash !== bindingHash(action) && 'other_action');
  return fault ? refused(`approval:${fault}`, 'the approval does not allow this action now', 409) : undefined;
}
