import { machine, type EventOf, type StateOf } from './machine';

/**
 * One approval a job; each move raises its revision by one, and so does each
 * answer to a gate that waits for more. An approval that stuck and is for another request is void, not repaired.
 * See docs/reference/jobs.md#approvals.
 */
export const approvalStates = machine('approval', {
  approve: { from: ['pending'], to: 'approved' },
  reject: { from: ['pending'], to: 'rejected' },
  expire: { from: ['pending'], to: 'invalidated' },
  invalidate: { from: ['pending', 'approved'], to: 'invalidated' },
  repair: { from: ['approved', 'rejected'], to: 'repaired' },
});

export type ApprovalStatus = StateOf<typeof approvalStates>;
export type ApprovalEvent = EventOf<typeof approvalStates>;
