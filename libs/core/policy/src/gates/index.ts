export { bindingHash } from './binding';
export { checkAction, gateDetails, type GateDetails } from './check-action';
export {
  gateIds,
  type ActionApproval,
  type Actor,
  type AgentScope,
  type GateCase,
  type GateFinding,
  type GateId,
  type GateWorld,
  type RefusalStatus,
  type Resolution,
} from './gate';
export { approvalUsed } from './provenance-gate';
