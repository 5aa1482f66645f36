import { machine, type EventOf, type StateOf } from './machine';

/** Spec: "Approval status"; core contract 13.1. One approval a job; each move raises its revision by one. */
export const approvalStates = machine('approval', {
  approve: { from: ['pending'], to: 'approved' },
  reject: { from: ['pending'], to: 'rejected' },
  expire: { from: ['pending'], to: 'invalidated' },
  invalidate: { from: ['pending'], to: 'invalidated' },
  repair: { from: ['approved', 'rejected'], to: 'repaired' },
});

export type ApprovalStatus = StateOf<typeof approvalStates>;
export type ApprovalEvent = EventOf<typeof approvalStates>;
