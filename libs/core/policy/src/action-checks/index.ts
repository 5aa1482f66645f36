export { bindingHash } from './binding';
export { checkAction, actionCheckDetails, type ActionCheckDetails } from './check-action';
export {
  actionCheckIds,
  type ActionApproval,
  type Actor,
  type AgentScope,
  type ActionCheckInput,
  type ActionCheckFinding,
  type ActionCheckId,
  type ActionCheckLookups,
  type RefusalStatus,
  type Resolution,
} from './action-check';
export { approvalUsed } from './check-provenance';
