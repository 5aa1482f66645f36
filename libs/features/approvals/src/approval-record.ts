import { limits, type Caller } from '@svc/contract';
import { redactText } from '@svc/scanning';
import type { ApprovalAnswer, ApprovalRecord } from '@svc/store';
import type { RunEvent } from '@svc/workflow';
import { sharesIdentity } from '@svc/identity';

export type Verdict = 'approved' | 'rejected';

export interface Remarks {
  reason: string;
  note: string;
}

/** By what name a decider is told to others. */
export const nameOf = (caller: Caller): string => caller.principalId || caller.keyId;

/** The approval of a job as a caller's verdict leaves it. */
export function resolution(
  approval: ApprovalRecord,
  verdict: Verdict,
  caller: Caller,
  remarks: Remarks,
  nowUs: number,
): ApprovalRecord {
  return {
    ...approval,
    status: verdict,
    revision: approval.revision + 1,
    decision: verdict === 'approved' ? 'approve' : 'reject',
    resolved_by: nameOf(caller),
    resolved_role: caller.role,
    resolved_at: nowUs,
    reason: remark(remarks.reason),
    note: remark(remarks.note),
  };
}

/** One person's word, for a gate that may ask several. */
export function answerOf(verdict: Verdict, caller: Caller, remarks: Remarks, nowUs: number): ApprovalAnswer {
  const approved = verdict === 'approved';
  const [first, second] = approved ? [remarks.note, remarks.reason] : [remarks.reason, remarks.note];
  const comment = remark(first) || remark(second);
  return {
    by: nameOf(caller),
    role: caller.role,
    at: nowUs,
    approved,
    identity: caller.submitterId,
    ...(comment && { comment }),
  };
}

/** Approvals so far; each person counts once. */
export const approvalsOf = ({ answers }: ApprovalRecord): ApprovalAnswer[] =>
  (answers ?? []).filter(({ approved }) => approved);

/** The approval that a caller gave before, under this or another name. */
export const ownApproval = (approval: ApprovalRecord, caller: Caller): ApprovalAnswer | undefined =>
  approvalsOf(approval).find(
    ({ by, identity }) => by === nameOf(caller) || sharesIdentity(identity ?? '', caller.submitterId),
  );

/** What the run of a gate hears of an answer; `who` is absent when no person gave it. */
export const gateResolved = (
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

/** Trimmed, without secrets, at most 512 bytes and no torn character at the end. */
export function remark(text: string): string {
  const clean = Buffer.from(redactText(text.trim()));
  if (clean.length <= limits.approvalTextBytes) return clean.toString('utf8');
  return clean
    .subarray(0, limits.approvalTextBytes)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
}
