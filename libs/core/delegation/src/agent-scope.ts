import { coversAny } from './glob';

/** Pool entry that stands for all pools. */
export const anyPool = '*';

/** What the registration of an agent permits. See docs/reference/agents.md#scope. */
export interface AgentScope {
  status: string;
  allowed_topics: readonly string[];
  allowed_tools: readonly string[];
  allowed_pools: readonly string[];
}

/** A job as the scope of its agent is checked against it. */
export interface ScopedJob {
  topic: string;
  capability?: string | undefined;
  /** Pools that may run the topic. */
  pools: readonly string[];
}

export const agentRefusals = [
  'agent_inactive',
  'topic_not_in_allowed_list',
  'tool_not_in_allowed_list',
  'pool_not_in_allowed_list',
] as const;
export type AgentRefusal = (typeof agentRefusals)[number];

export const allowsPool = (allowed: readonly string[], pool: string): boolean =>
  allowed.includes(anyPool) || allowed.includes(pool);

/**
 * Reason that an agent may not run a job; undefined when it may. All pools of the topic must be allowed, since the job may be
 * dispatched to each of them.
 *
 * @param delegated the scope of a delegation, which replaces the agent's own topics and tools
 */
export function findAgentRefusal(
  agent: AgentScope,
  job: ScopedJob,
  delegated: Pick<AgentScope, 'allowed_topics' | 'allowed_tools'> = agent,
): AgentRefusal | undefined {
  if (agent.status !== 'active') return 'agent_inactive';
  if (!coversAny(delegated.allowed_topics, job.topic)) return 'topic_not_in_allowed_list';
  if (job.capability && !coversAny(delegated.allowed_tools, job.capability)) return 'tool_not_in_allowed_list';
  if (!job.pools.every((pool) => allowsPool(agent.allowed_pools, pool))) return 'pool_not_in_allowed_list';
  return undefined;
}
