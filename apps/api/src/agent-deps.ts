import { AgentLinks, type AgentContext, applyStatusSoon, type ActingDeps, type CheckAgentDeps } from '@svc/agents';
import { type CancelDeps, cancelOpenJob } from '@svc/jobs';
import { type Base, type Platform, startLoops, type StoredFleet } from '@svc/platform';
import type { ApiEnv, Boot } from '@svc/runtime';
import type { AnnounceDeps } from '@svc/settings';
import { WorkerTrustRepository } from '@svc/worker-trust';

interface AgentParts extends Pick<Platform, 'license'> {
  changes: Base & AnnounceDeps & { fleet: StoredFleet };
  cancel: CancelDeps;
}

const SYNC_EVERY_MS = 500;

/** Dependencies of the routes of agents, and of the checks of their jobs. */
export function agentDeps(
  { log, onStop }: Pick<Boot<ApiEnv>, 'log' | 'onStop'>,
  { changes, cancel, license }: AgentParts,
): { registry: AgentContext['agents']; jobs: ActingDeps & CheckAgentDeps } {
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
  const stop = {
    ...changes,
    trust,
    cancelJob: (id: string, reason: string) => cancelOpenJob(cancel, id, reason),
    onStopFailed: (agentId: string, error: unknown) =>
      log.warn('stopping an agent failed; the scheduler completes it', { agent_id: agentId, error }),
  };
  return {
    registry: { ...changes, license, statusChanged: (id) => applyStatusSoon(stop, id) },
    jobs: { store, clock, fleet, links },
  };
}
