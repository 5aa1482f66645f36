import { isRecord } from '@svc/json';
import { anyGlob, fold } from '../compile/glob';
import { refused, type AgentScope, type ActionCheckInput, type Objection } from './action-check';

/**
 * Restricts agents to their servers, tools and resources. An empty list permits nothing. A call without a server or a
 * resource is not checked against that list; one without a tool is rejected. See docs/reference/policy.md#action-checks.
 */
export async function checkMcp({
  action,
  actor,
  world,
  dangerousParameters,
}: ActionCheckInput): Promise<Objection | undefined> {
  if (action.kind !== 'mcp_call') return undefined;
  const { agent } = actor;
  if (!agent) return refused('no_identity', 'an MCP call is made by an agent that is known', 401);
  if (!agent.isActive) return refused('agent_inactive', 'the agent is not active', 401);
  const { required_entitlement: entitlement, server } = action;
  const outside = findViolation(agent, action);
  if (outside) return refused(outside, 'the agent was not given this');
  if (entitlement && !agent.entitlements.some((held) => fold(held) === fold(entitlement))) {
    return refused('unlicensed', 'the agent lacks the entitlement');
  }
  if (hasKey(action.args, new Set(dangerousParameters.map(fold)))) {
    return refused('dangerous_parameter', 'an argument is one that configuration forbids');
  }
  if (server && (await world.isReachable?.(server)) === false) {
    return refused('server_unreachable', 'the server cannot be reached', 503);
  }
  return undefined;
}

function findViolation(
  agent: AgentScope,
  { server, tool, target_resource }: ActionCheckInput['action'],
): string | undefined {
  const allows = (list: readonly string[], value: string) => anyGlob(list)(fold(value));
  if (server && !allows(agent.allowedServers, server)) return 'server_not_in_allowed_list';
  if (!tool || !allows(agent.allowedTools, tool)) return 'tool_not_in_allowed_list';
  if (target_resource?.id && !allows(agent.allowedResources, target_resource.id)) return 'resource_not_in_allowed_list';
  return undefined;
}

/** At any depth; the body's parser bounds it. */
function hasKey(value: unknown, names: ReadonlySet<string>): boolean {
  if (names.size === 0) return false;
  if (Array.isArray(value)) return value.some((item) => hasKey(item, names));
  return isRecord(value) && Object.entries(value).some(([key, field]) => names.has(fold(key)) || hasKey(field, names));
}
