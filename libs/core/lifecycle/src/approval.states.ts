import { machine, type EventOf, type StateOf } from './machine';

/**
 * A job has one approval. Every transition increments its revision, and so does each vote that does not yet complete a
 * quorum. A stuck approval that belongs to another request is invalidated, not repaired.
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
