import type { Acceptance, ApprovalRecord, DecisionRecord, MoveExtras } from '@svc/store';
import type { DecidedJob } from './ask-about-job';

type Decided = Pick<DecidedJob, 'decision' | 'record'>;

export interface ApprovalTerms {
  nowUs: number;
  timeLimitMs: number;
  /** Hash of the input that the approval covers; computed only for jobs that are held. */
  inputHash(): string;
}

/** An approval that a step of a workflow requires, whatever policy permits. */
export interface RequiredApproval {
  reason: string;
  approval: Partial<ApprovalRecord>;
}

type HeldState = { kind: 'held'; decision: DecisionRecord; next: NonNullable<Acceptance['next']> };
type DeniedState = {
  kind: 'denied';
  decision: DecisionRecord;
  failure: { event: 'deny'; code: string; message: string };
};

/** The state that a new job is created in, or the reason that it is not created. */
export type InitialState =
  { kind: 'accepted'; decision: DecisionRecord } | HeldState | DeniedState | { kind: 'throttled'; waitMs: number };

const defaultThrottleMs = 30_000;

/** Derives the state that a new job is created in from its decision. */
export function initialStateFor(jobId: string, { decision, record }: Decided, terms: ApprovalTerms): InitialState {
  switch (decision.decision) {
    case 'ALLOW':
    case 'ALLOW_WITH_CONSTRAINTS':
      return { kind: 'accepted', decision: record };
    case 'REQUIRE_APPROVAL':
      return hold(jobId, record, terms);
    case 'DENY':
      return deny(record);
    case 'THROTTLE':
      return { kind: 'throttled', waitMs: decision.throttle_duration_ms ?? defaultThrottleMs };
  }
}

/** The same for a job that requires an approval: it is held unless policy denies it. */
export function approvalStateFor(
  jobId: string,
  { record }: Pick<Decided, 'record'>,
  { reason, approval }: RequiredApproval,
  terms: ApprovalTerms,
): HeldState | DeniedState {
  if (record.decision === 'DENY') return deny(record);
  return hold(jobId, { ...record, decision: 'REQUIRE_APPROVAL', reason, approval_required: true }, terms, approval);
}

function hold(
  jobId: string,
  record: DecisionRecord,
  terms: ApprovalTerms,
  over: Partial<ApprovalRecord> = {},
): HeldState {
  const decision = { ...record, approval_ref: jobId };
  const { set, park } = holdWrites(decision, terms);
  const approval = { ...set.approval, ...over };
  return { kind: 'held', decision, next: { event: 'hold', extras: { set: { approval }, park } } };
}

const deny = (decision: DecisionRecord): DeniedState => ({
  kind: 'denied',
  decision,
  failure: { event: 'deny', code: 'policy_denied', message: decision.reason ?? 'denied by policy' },
});

/** The writes that hold a job: a pending approval, bound to the request, the input and the policy. */
export function holdWrites(
  decision: DecisionRecord,
  { nowUs, timeLimitMs, inputHash }: ApprovalTerms,
): { set: { approval: ApprovalRecord }; park: NonNullable<MoveExtras['park']> } {
  const approval = {
    status: 'pending' as const,
    revision: 1,
    policy_snapshot: decision.policy_snapshot ?? '',
    job_hash: decision.job_hash ?? '',
    input_hash: inputHash(),
    expires_at: nowUs + timeLimitMs * 1_000,
  };
  return { set: { approval }, park: { queue: 'jobApprovals', forMs: timeLimitMs } };
}

/** Time limit of an approval, which ends with the deadline of its job. @param deadlineMs unix ms; 0 = none */
export const approvalTimeMs = (ttlMs: number, deadlineMs: number, nowMs: number): number =>
  Math.max(1, Math.min(ttlMs, deadlineMs > 0 ? deadlineMs - nowMs : Infinity));
