import type { AgentStatus } from '@svc/contract';
import { announceChange, type AnnounceDeps } from '@svc/settings';
import type { Store } from '@svc/store';
import { type WorkerTrustRepository, workersScope } from '@svc/worker-trust';

export interface StopDeps extends AnnounceDeps {
  store: Pick<Store, 'agents'>;
  trust: Pick<WorkerTrustRepository, 'idsOf' | 'records' | 'revokeSession'>;
  /** Cancels a job of any tenant. @returns false when it had ended, or there is no such job */
  cancelJob(id: string, reason: string): Promise<boolean>;
}

/** Jobs cancelled together. */
const BATCH = 250;
/** How long a request waits for the stop of an agent with very many jobs. */
const MAX_REQUEST_MS = 2_000;
/** Agents in one run of the loop. */
const MAX_AGENTS = 100;

/**
 * Applies the status of an agent to what it has under way. While it is not active, the sessions of its workers and its open jobs
 * in whatever state are ended; no job can be added during that, since the accepting script refuses those of an agent that is not
 * active. Safe to repeat and to run several times at once. See docs/adr/0028-agents.md.
 *
 * @returns false when the status changed again
 */
export async function applyStatus(deps: StopDeps, agentId: string): Promise<boolean> {
  const { agents } = deps.store;
  const record = await agents.get(agentId);
  if (!record) return false;
  const { status } = record.agent;
  // After an activation too, so that replicas read that the workers are accepted again.
  await endSessions(deps, record.tenant, agentId);
  const outcome =
    status === 'active' ? await agents.finishChange(agentId, status) : await stopJobs(deps, agentId, status);
  return outcome === 'finished';
}

async function stopJobs(deps: StopDeps, agentId: string, status: AgentStatus): Promise<'finished' | 'changed'> {
  const { agents } = deps.store;
  for (;;) {
    const jobs = await agents.jobsToStop(agentId, BATCH);
    if (!jobs) return 'changed';
    const changed = await Promise.all(jobs.map((id) => deps.cancelJob(id, 'the agent was stopped')));
    const ended = jobs.filter((_, i) => !changed[i]);
    if (jobs.length > 0 && ended.length === 0) continue;
    // A job that ended by itself has left the list. One that is still in it is removed here, so that the loop ends.
    const outcome = await agents.finishChange(agentId, status, ended);
    if (outcome !== 'open') return outcome;
  }
}

/**
 * The same for a request, which does not wait for very many jobs. Never throws: what a process does not complete, the loop of
 * the schedulers does.
 */
export async function applyStatusSoon(
  deps: StopDeps & { onStopFailed(agentId: string, error: unknown): void },
  agentId: string,
): Promise<void> {
  const applied = applyStatus(deps, agentId).catch((error: unknown) => deps.onStopFailed(agentId, error));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, MAX_REQUEST_MS)));
  await Promise.race([applied, late]).finally(() => clearTimeout(timer));
}

/** Applies new statuses that no process has applied completely. Returns the number of agents. */
export async function completeStops(deps: StopDeps): Promise<number> {
  const ids = await deps.store.agents.changed(MAX_AGENTS);
  let completed = 0;
  for (const id of ids) if (await applyStatus(deps, id)) completed++;
  return completed;
}

/** While an agent is not active, all replicas refuse its workers like those with a revoked credential. */
async function endSessions(deps: StopDeps, tenant: string, agentId: string): Promise<void> {
  const { trust } = deps;
  const records = await trust.records(await trust.idsOf(tenant));
  const linked = [...records].filter(([, { credential }]) => credential.agent_id === agentId);
  if (linked.length === 0) return;
  for (const [id] of linked) await trust.revokeSession(tenant, id);
  // After a crash here, replicas find the change by themselves within a second.
  await announceChange(deps, workersScope);
}
