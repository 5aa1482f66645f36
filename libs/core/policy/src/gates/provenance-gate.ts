import { fold } from '../compile/glob';
import { approvalObjection } from './approval-check';
import { refused, type GateCase, type Objection } from './gate';
import { isGrave } from './mutation-gate';

const requiresProvenance = ({ kind, risk_tags }: GateCase['action']): boolean =>
  kind === 'provenance_check' || risk_tags.some((tag) => fold(tag) === 'requires_provenance');

/**
 * Believes no claim that something was allowed: only an approval that is there, and evidence where it can be looked up.
 * It also runs for kind `provenance_check`; what must have a provenance and claims none is
 * refused as a claim that is not verified.
 */
export async function provenanceGate(given: GateCase): Promise<Objection | undefined> {
  const { action, world } = given;
  const isRequired = requiresProvenance(action);
  if (!isGrave(action) && !isRequired) return undefined;
  const { claim_text: claim, approval_ref: ref } = action.approval_claim ?? {};
  if (!ref) {
    return claim || isRequired ? refused('unverified_claim', 'a claim counts only with its approval') : undefined;
  }
  // The mutation gate has asked already, and nothing has happened in between.
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

/** The approval that an action rests on, which is used up by letting the action through; undefined when on none. */
export const approvalUsed = (action: GateCase['action']): string | undefined =>
  isGrave(action) || requiresProvenance(action) ? action.approval_claim?.approval_ref || undefined : undefined;
