import { limits, type Caller } from '@svc/contract';
import { redactText } from '@svc/scanning';
import type { ApprovalAnswer, ApprovalRecord } from '@svc/store';
import type { RunEvent } from '@svc/workflow';
import { sharesIdentity } from '@svc/identity';

export type ApprovalDecision = 'approved' | 'rejected';

export interface Remarks {
  reason: string;
  note: string;
}

/** Name under which a caller's decision is shown. */
export const getDeciderName = (caller: Caller): string => caller.principalId || caller.keyId;

/** Applies a caller's decision to the approval of a job. */
export function resolveApproval(
  approval: ApprovalRecord,
  decision: ApprovalDecision,
  caller: Caller,
  remarks: Remarks,
  nowUs: number,
): ApprovalRecord {
  return {
    ...approval,
    status: decision,
    revision: approval.revision + 1,
    decision: decision === 'approved' ? 'approve' : 'reject',
    resolved_by: getDeciderName(caller),
    resolved_role: caller.role,
    resolved_at: nowUs,
    reason: cleanRemark(remarks.reason),
    note: cleanRemark(remarks.note),
  };
}

/** Builds one person's decision, for a gate that may require several. */
export function buildAnswer(
  decision: ApprovalDecision,
  caller: Caller,
  remarks: Remarks,
  nowUs: number,
): ApprovalAnswer {
  const approved = decision === 'approved';
  const [first, second] = approved ? [remarks.note, remarks.reason] : [remarks.reason, remarks.note];
  const comment = cleanRemark(first) || cleanRemark(second);
  return {
    by: getDeciderName(caller),
    role: caller.role,
    at: nowUs,
    approved,
    identity: caller.submitterId,
    ...(comment && { comment }),
  };
}

/** Approvals so far; each person counts once. */
export const getApprovals = ({ answers }: ApprovalRecord): ApprovalAnswer[] =>
  (answers ?? []).filter(({ approved }) => approved);

/** The earlier approval of a caller, under any of their identities. */
export const findOwnApproval = (approval: ApprovalRecord, caller: Caller): ApprovalAnswer | undefined =>
  getApprovals(approval).find(
    ({ by, identity }) => by === getDeciderName(caller) || sharesIdentity(identity ?? '', caller.submitterId),
  );

/** Builds the run event (JSON) for a decision on its gate; `who` is empty when no person decided. */
export const buildGateResolved = (
  jobId: string,
  approved: boolean,
  who: Partial<Pick<ApprovalAnswer, 'by' | 'role' | 'comment'>>,
): string => {
  const { by, role, comment } = who;
  const event: RunEvent = {
    kind: 'gateResolved',
    jobId,
    approved,
    ...(by && { by }),
    ...(role && { role }),
    ...(comment && { comment }),
  };
  return JSON.stringify(event);
};

/** Trims, redacts secrets and truncates to 512 bytes without splitting a character. */
export function cleanRemark(text: string): string {
  const clean = Buffer.from(redactText(text.trim()));
  if (clean.length <= limits.approvalTextBytes) return clean.toString('utf8');
  return clean
    .subarray(0, limits.approvalTextBytes)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
}
