/** Asks policy about a job: the request, its hash, the decision and its record. */
export { answerWithin, askAboutJob, type JobDecision } from './ask-about-job';
export { toConfigScope } from './config-scope';
export { storedContextRef } from './context-ref';
export { policyPart, safetyFields } from './decision-record';
export { approvalStateFor, approvalTimeMs, holdWrites, initialStateFor, type RequiredApproval } from './initial-state';
export { inputHash, isApprovedInput, unreadableInput } from './input-hash';
export { dispatchIdentity, dispatchPacket, type InlineData, isStaleDispatch, requestHash } from './job-packet';
export { isFinalDecision, wasReported, type LiveDecision, type ShadowReporter } from './live-decision';
export { buildPolicyContent, readPolicyContent, toPolicyContent } from './policy-content';
export { buildPolicyRequest } from './policy-request';
export { toPriority } from './priority';
export { markSecrets } from './secrets';
export { toWorkflowStep } from './workflow-step';
