import {
  AppError,
  limits,
  type AgentStatus,
  type AgentView,
  type AuditSeverity,
  type CreateAgentBody,
  type UpdateAgentBody,
} from '@svc/contract';
import type { AgentRecord } from '@svc/store';
import { isDeepStrictEqual } from 'node:util';
import { type ActContext, type AgentDeps, buildAct, findAgent } from './agent-deps';

const MAX_TRIES = 5;

/**
 * Registers an agent in the caller's tenant. See docs/reference/agents.md.
 *
 * @throws agent_request_invalid
 */
export async function createAgent(deps: AgentDeps, context: ActContext, body: CreateAgentBody): Promise<AgentView> {
  const { clock, random, store } = deps;
  const now = new Date(clock.nowMs()).toISOString();
  const { description, team, ...rest } = body;
  const agent = {
    id: random.uuid(),
    ...rest,
    ...(description && { description }),
    ...(team && { team }),
    created_at: now,
    updated_at: now,
  };
  const outcome = await store.agents.write(context.caller.tenant, {
    agent,
    expected: 0,
    createdUs: clock.nowUs(),
    act: buildAct('agent.created', context, { agent }, 'MEDIUM'),
  });
  if (outcome.kind === 'full') throw fault('name', `this tenant already has ${limits.tenantAgents} agents`);
  if (outcome.kind === 'changed') throw new AppError('agent_version_conflict');
  return agent;
}

/**
 * Changes an agent. Suspending or revoking it stops its jobs, sessions and delegations: its new jobs are refused from the write
 * on, and the rest is done before this resolves, or soon after by a loop. See docs/reference/agents.md#stop.
 *
 * @throws agent_not_found, agent_request_invalid, agent_version_conflict
 */
export async function updateAgent(
  deps: AgentDeps,
  context: ActContext,
  id: string,
  body: UpdateAgentBody,
): Promise<AgentView> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const record = await findAgent(deps, context.caller.scope, id);
    const before = record.agent;
    const agent = merge(before, body);
    if (before.status === 'revoked' && agent.status !== 'revoked')
      throw fault('status', 'a revoked agent stays revoked');
    const isSame = isDeepStrictEqual(agent, before);
    const written = isSame ? before : { ...agent, updated_at: new Date(deps.clock.nowMs()).toISOString() };
    if (!isSame && !(await write(deps, context, record, written))) continue;
    // After a crash here, the loop of the schedulers stops the agent.
    if (agent.status !== before.status || agent.status !== 'active') await deps.statusChanged(id);
    return written;
  }
  throw new AppError('agent_version_conflict');
}

/** Revokes an agent; its record is kept. Again is a no-op. @throws as `updateAgent` */
export async function revokeAgent(deps: AgentDeps, context: ActContext, id: string): Promise<void> {
  await updateAgent(deps, context, id, { status: 'revoked' });
}

async function write(
  { store, clock }: AgentDeps,
  context: ActContext,
  { tenant, revision, agent: before }: AgentRecord,
  agent: AgentRecord['agent'],
): Promise<boolean> {
  const [action, severity] = describe(before.status, agent.status);
  const act = buildAct(action, context, { agent }, severity);
  const changed = Object.keys(agent).filter(
    (field) => !isDeepStrictEqual(agent[field as keyof typeof agent], before[field as keyof typeof before]),
  );
  act.extra = { ...act.extra, changed: changed.filter((field) => field !== 'updated_at').join(' ') };
  const outcome = await store.agents.write(tenant, { agent, expected: revision, createdUs: clock.nowUs(), act });
  return outcome.kind === 'written';
}

function describe(before: AgentStatus, after: AgentStatus): [action: string, severity: AuditSeverity] {
  if (before === after) return ['agent.updated', 'MEDIUM'];
  return after === 'active' ? ['agent.activated', 'HIGH'] : [`agent.${after}`, 'HIGH'];
}

/** Empty texts leave a field as it is; a list replaces the one before. */
function merge(before: AgentRecord['agent'], body: UpdateAgentBody): AgentRecord['agent'] {
  const given = Object.entries(body).filter(([, value]) => value !== undefined && value !== '');
  return { ...before, ...(Object.fromEntries(given) as Partial<AgentRecord['agent']>) };
}

const fault = (field: string, message: string) =>
  new AppError('agent_request_invalid', { violations: [{ in: 'body', field, message }] });
