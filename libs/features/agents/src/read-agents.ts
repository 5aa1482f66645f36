import {
  AppError,
  limits,
  type AgentPage,
  type AgentStats,
  type AgentTools,
  type AgentView,
  type Caller,
  type DeniedEvents,
  type ListAgentsQuery,
} from '@svc/contract';
import type { AgentPosition, AgentRecord } from '@svc/store';
import { type AgentDeps, findAgent } from './agent-deps';

type ReadDeps = Pick<AgentDeps, 'store' | 'clock'>;

const PAGE_READ = 100;

/** Agents of the caller's tenant, newest first. @throws agent_request_invalid */
export async function listAgents(deps: ReadDeps, { tenant }: Caller, query: ListAgentsQuery): Promise<AgentPage> {
  const { agents } = deps.store;
  const found: (AgentPosition & { record: AgentRecord })[] = [];
  let after = query.cursor === undefined ? undefined : parseCursor(query.cursor);
  // One more than the page has, to know whether there is another.
  while (found.length <= query.limit) {
    const rows = await agents.page(tenant, PAGE_READ, after);
    found.push(...rows.filter(({ record }) => isWanted(record.agent, query)));
    after = rows.at(-1);
    if (rows.length < PAGE_READ) break;
  }
  const items = found.slice(0, query.limit);
  const active = await agents.lastActive(tenant, items.map(({ id }) => id)); // prettier-ignore
  const last = items.at(-1);
  const cursor = found.length > query.limit && last ? toCursor(last) : undefined;
  return {
    items: items.map(({ record: { agent } }) => {
      const lastActive = active.get(agent.id);
      return { ...agent, ...(lastActive !== undefined && { last_active: lastActive }) };
    }),
    ...(cursor && { cursor, next_cursor: cursor }),
  };
}

const isWanted = (agent: AgentView, { status, risk_tier, team }: ListAgentsQuery): boolean =>
  (status === undefined || agent.status === status) &&
  (risk_tier === undefined || agent.risk_tier === risk_tier) &&
  (!team || agent.team === team);

const toCursor = ({ createdUs, id }: AgentPosition): string => Buffer.from(`${createdUs} ${id}`).toString('base64url');

function parseCursor(cursor: string): AgentPosition {
  const [createdUs = '', id = '', ...more] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const us = Number(createdUs);
  if (Number.isSafeInteger(us) && us > 0 && id !== '' && more.length === 0) return { createdUs: String(us), id };
  const violation = { in: 'query', field: 'cursor', message: 'must be the cursor of a page' };
  throw new AppError('agent_request_invalid', { violations: [violation] });
}

/** @throws agent_not_found */
export async function getAgent(deps: ReadDeps, { scope }: Caller, id: string): Promise<AgentView> {
  return (await findAgent(deps, scope, id)).agent;
}

/** @throws agent_not_found */
export async function getAgentStats(deps: ReadDeps, { scope }: Caller, id: string): Promise<AgentStats> {
  const { tenant } = await findAgent(deps, scope, id);
  const { jobs, denied, lastActiveUs } = await deps.store.agents.figures(tenant, id, deps.clock.nowMs());
  return { agent_id: id, total_jobs_7d: jobs, denied_7d: denied, last_active: lastActiveUs };
}

/** @throws agent_identity_not_found */
export async function getAgentTools(deps: ReadDeps, { scope }: Caller, id: string): Promise<AgentTools> {
  const record = await deps.store.agents.get(id);
  if (!record || (scope !== '*' && record.tenant !== scope)) throw new AppError('agent_identity_not_found');
  const { status, allowed_tools, preapproved_mutating_tools: preapproved } = record.agent;
  if (status !== 'active') return { tools: [], agent_id: id, filtered: true, note: `the agent is ${status}` };
  const names = [...new Set(allowed_tools)].sort();
  return {
    tools: names.map((name) => ({ name, preapproved: preapproved.includes(name) })),
    agent_id: id,
    filtered: true,
    ...(names.length === 0 && { note: 'the agent may call no tools' }),
  };
}

/** @throws agent_not_found */
export async function listDeniedEvents(deps: ReadDeps, { scope }: Caller, id: string): Promise<DeniedEvents> {
  await findAgent(deps, scope, id);
  return { agent_id: id, events: await deps.store.agents.denied(id), limit: limits.deniedEventsListed };
}
