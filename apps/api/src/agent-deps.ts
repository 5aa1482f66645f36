import { AgentLinks, type AgentContext, applyStatusSoon, openDelegationKeys } from '@svc/agents';
import { type GateRules, mayUse } from '@svc/http';
import { type CancelDeps, cancelOpenJob, type SubmitDeps } from '@svc/jobs';
import { type Base, type Platform, startLoops, type StoredFleet } from '@svc/platform';
import type { ApiEnv, Boot } from '@svc/runtime';
import type { AnnounceDeps } from '@svc/settings';
import { WorkerTrustRepository } from '@svc/worker-trust';

interface AgentParts {
  changes: Base & AnnounceDeps & { fleet: StoredFleet };
  cancel: CancelDeps;
  gate: GateRules;
}

const SYNC_EVERY_MS = 500;
const impersonation = { permission: 'delegation.impersonate', roles: ['admin'] } as const;

/** What evaluations and action checks know of an agent; undefined for one of another tenant. */
export function agentLookups({ agents }: Pick<Platform['store'], 'agents'>) {
  const find = async (tenant: string, id: string) => {
    const record = await agents.get(id);
    return record?.tenant === tenant ? record.agent : undefined;
  };
  return {
    agents: async (tenant: string, id: string) => {
      const agent = await find(tenant, id);
      return agent && { risk_tier: agent.risk_tier, data_classifications: agent.data_classifications };
    },
    agentScope: async (tenant: string, id: string) => {
      const agent = await find(tenant, id);
      return (
        agent && {
          isActive: agent.status === 'active',
          allowedServers: agent.allowed_servers,
          allowedTools: agent.allowed_tools,
          allowedResources: agent.allowed_resources,
          entitlements: agent.entitlements,
        }
      );
    },
  };
}

/** Dependencies of the routes of agents, and of the checks of their jobs. */
export function agentDeps(
  { env, log, onStop }: Pick<Boot<ApiEnv>, 'env' | 'log' | 'onStop'>,
  { changes, cancel, gate }: AgentParts,
): { registry: AgentContext['agents']; jobs: SubmitDeps['agents'] } {
  const { store, clock, fleet } = changes;
  const trust = new WorkerTrustRepository(store.redis);
  const links = new AgentLinks(trust);
  const sync = { name: 'agent-links', everyMs: SYNC_EVERY_MS, run: () => links.sync() };
  const failed = (error: unknown) =>
    log
      .oncePer('agent-links', 10_000)
      .warn('reading the agents of workers failed; the last ones stay in effect', { error });
  onStop(
    'agent-links',
    startLoops([sync], (_, error) => failed(error)),
  );
  const delegation = { keys: openDelegationKeys(env), maxDepth: env.delegationMaxDepth };
  const stop = {
    ...changes,
    trust,
    cancelJob: (id: string, reason: string) => cancelOpenJob(cancel, id, reason),
    onStopFailed: (agentId: string, error: unknown) =>
      log.warn('stopping an agent failed; the scheduler completes it', { agent_id: agentId, error }),
  };
  return {
    registry: { ...changes, links, delegation, statusChanged: (id) => applyStatusSoon(stop, id) },
    jobs: {
      ...{ store, clock, fleet, links, delegation },
      mayImpersonate: (caller) => mayUse(caller, impersonation, gate),
    },
  };
}
