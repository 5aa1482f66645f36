/** What agents may do, and what they may delegate to each other. */
export {
  agentRefusals,
  allowsPool,
  findAgentRefusal,
  type AgentRefusal,
  type AgentScope,
  type ScopedJob,
} from './agent-scope';
export { covers, coversAny, findExcess, intersect } from './glob';
