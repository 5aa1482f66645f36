/** Asks policy about a job: the request, its hash, the decision and its record. */
export { storedContextRef } from './context-ref';
export { inputHash, isApprovedInput, unreadableInput } from './input-hash';
export { dispatchIdentity, dispatchPacket, isStaleDispatch, requestHash } from './job-packet';
export { isSettledAtOnce, isToldBefore, type LiveDecision, type Shadows } from './live-decision';
export {
  answerWithin,
  askPolicy,
  decisionRecord,
  policyPart,
  policyRequest,
  priorPermit,
  type Verdict,
} from './policy-check';
export { priorityOf } from './priority';
export { workflowStepOf } from './workflow-step';
