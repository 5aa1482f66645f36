import type { AnnounceDeps } from '@svc/settings';
import { announceChange } from '@svc/settings';
import type { Store } from '@svc/store';
import { type WorkerTrustRepository, workersScope } from '@svc/worker-trust';

export interface StopDeps extends AnnounceDeps {
  store: Pick<Store, 'agents'>;
  trust: Pick<WorkerTrustRepository, 'idsOf' | 'records' | 'revokeSession'>;
  /** Cancels a job of any tenant. @returns false when it had ended, or there is no such job */
  cancelJob(id: string, reason: string): Promise<boolean>;
}

/** Jobs cancelled together. */
const BATCH = 100;
/** How long a request waits for the stop of an agent with very many jobs. */
const MAX_REQUEST_MS = 2_000;
/** Agents stopped in one run of the loop. */
const MAX_AGENTS = 100;

/**
 * Ends what an agent has under way: the sessions of its workers, then its open jobs in whatever state. Safe to repeat and to
 * run several times at once. No job can be added during it: the accepting script refuses those of an agent that is not
 * active. See docs/adr/0028-agents.md.
 *
 * @returns whether nothing is left; false when the agent was activated again
 */
export async function stopAgent(deps: StopDeps, tenant: string, agentId: string): Promise<boolean> {
  const { agents } = deps.store;
  await endSessions(deps, tenant, agentId);
  for (;;) {
    const jobs = await agents.jobsToStop(agentId, BATCH);
    if (!jobs) return false;
    const changed = await Promise.all(jobs.map((id) => deps.cancelJob(id, 'the agent was stopped')));
    const ended = jobs.filter((_, i) => !changed[i]);
    // A job that ended by itself has left the list. One that is still in it is removed here, so that the loop ends.
    if ((jobs.length === 0 || ended.length > 0) && (await agents.finishStop(agentId, ended))) return true;
  }
}

/**
 * Applies the status of an agent after its change. Never throws: what a process does not complete, the loop of the schedulers
 * does.
 */
export async function applyStatus(
  deps: StopDeps & { onStopFailed(agentId: string, error: unknown): void },
  tenant: string,
  agentId: string,
): Promise<void> {
  const applied = (async () => {
    const record = await deps.store.agents.get(agentId);
    if (record?.agent.status === 'active') await endSessions(deps, tenant, agentId);
    else await stopAgent(deps, tenant, agentId);
  })().catch((error: unknown) => deps.onStopFailed(agentId, error));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, MAX_REQUEST_MS)));
  await Promise.race([applied, late]).finally(() => clearTimeout(timer));
}

/** Completes the stops that a process began and did not end. Returns their number. */
export async function completeStops(deps: StopDeps): Promise<number> {
  const ids = await deps.store.agents.stopping(MAX_AGENTS);
  let completed = 0;
  for (const id of ids) {
    const record = await deps.store.agents.get(id);
    if (record && (await stopAgent(deps, record.tenant, id))) completed++;
  }
  return completed;
}

/**
 * Ends the sessions of the workers of an agent. While it is not active, all replicas refuse its workers like those with a
 * revoked credential. Called after it was activated too, so that they read that.
 */
export async function endSessions(
  deps: Pick<StopDeps, 'trust'> & AnnounceDeps,
  tenant: string,
  agentId: string,
): Promise<void> {
  const { trust } = deps;
  const records = await trust.records(await trust.idsOf(tenant));
  const linked = [...records].filter(([, { credential }]) => credential.agent_id === agentId);
  if (linked.length === 0) return;
  for (const [id] of linked) await trust.revokeSession(tenant, id);
  // After a crash here, replicas find the change by themselves within a second.
  await announceChange(deps, workersScope);
}
