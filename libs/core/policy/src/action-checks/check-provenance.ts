import { fold } from '../compile/glob';
import { approvalObjection } from './approval-check';
import { refused, type ActionCheckInput, type Objection } from './action-check';
import { isGrave } from './check-mutation';

const requiresProvenance = ({ kind, risk_tags }: ActionCheckInput['action']): boolean =>
  kind === 'provenance_check' || risk_tags.some((tag) => fold(tag) === 'requires_provenance');

/**
 * Accepts a claim of permission only with an existing approval, and with evidence where it can be verified. Also runs for
 * kind `provenance_check`; an action that requires provenance and claims none is rejected as an unverified claim.
 */
export async function checkProvenance(given: ActionCheckInput): Promise<Objection | undefined> {
  const { action, world } = given;
  const isRequired = requiresProvenance(action);
  if (!isGrave(action) && !isRequired) return undefined;
  const { claim_text: claim, approval_ref: ref } = action.approval_claim ?? {};
  if (!ref) {
    return claim || isRequired ? refused('unverified_claim', 'a claim counts only with its approval') : undefined;
  }
  // The mutation check has verified it in this same evaluation.
  const objection = isGrave(action) ? undefined : await approvalObjection(given, ref);
  if (objection) return objection;
  switch (await world.verifyEvidence?.(ref)) {
    case 'compromised':
      return refused('evidence:compromised', 'the evidence was changed', 500);
    case 'missing':
      return refused('evidence:missing', 'the evidence is not there', 500);
    case 'unavailable':
      return refused('evidence:unavailable', 'the evidence cannot be looked up now', 503);
    case 'proven':
    case undefined:
      return undefined;
  }
}

/** The approval that an action rests on, to be consumed when the action passes; undefined without one. */
export const approvalUsed = (action: ActionCheckInput['action']): string | undefined =>
  isGrave(action) || requiresProvenance(action) ? action.approval_claim?.approval_ref || undefined : undefined;
