import { defaultSettings } from '@svc/contract';
import { isInFlight } from '@svc/lifecycle';
import { canServe, type RoutingNeeds } from '@svc/routing';
import type { JobRecord } from '@svc/store';
import { section } from '../effective-config';
import type { Intent } from '../jobs/endings';
import { entryPriority, moveAndTell } from './move-job';
import type { SchedulingDeps } from './scheduling-deps';

/** A batch job so marked by its submitter is never interrupted. */
const optOut = 'preemptible';

/**
 * Makes room for a critical job when every worker that could take it is full: one batch job is stopped and comes again,
 * without losing a retry. The youngest goes, since least is lost with it. Engine contract A8.
 *
 * @returns whether a slot was freed
 */
export async function preemptFor(deps: SchedulingDeps, job: JobRecord, needs: RoutingNeeds): Promise<boolean> {
  if (job.request.priority !== 'critical') return false;
  const config = await deps.config.at({ tenant: job.tenant, team: job.request.team_id });
  if (!section(config, 'resources', { ...defaultSettings.resources }).preemption_enabled) return false;
  const rules = { readinessRequired: deps.settings.readinessRequired };
  const workers = deps.registry
    .routable(deps.clock.nowMs())
    .filter((worker) => canServe(deps.fleet.pools(), needs, worker, rules));
  const held = await Promise.all(workers.map(({ id }) => deps.store.workers.inFlight(id)));
  const running = await deps.store.index.records(held.flat());
  const victim = running
    .filter((other) => isInFlight(other.state) && other.request.priority === 'batch')
    .filter((other) => other.request.labels[optOut] !== 'false' && other.request.run_id === undefined)
    .sort((a, b) => (b.started_at ?? 0) - (a.started_at ?? 0))[0];
  if (!victim?.worker_id || !victim.dispatch_id) return false;
  const intent: Intent = { cancel: 'preempted' };
  const times = (victim.preempted ?? 0) + 1;
  const moved = await moveAndTell(deps, victim, 'preempt', {
    dispatchId: victim.dispatch_id,
    set: { preempted: times, waiting_reason: 'preempted by a critical job' },
    carry: [{ queue: 'jobs', suffix: `preempted-${times}`, delay_ms: 1_000, priority: entryPriority(victim) }],
    intent: JSON.stringify(intent),
  });
  if (!moved) return false;
  deps.events.preempted(victim.id);
  deps.registry.moved(victim.worker_id, -1);
  deps.wake(victim.worker_id);
  return true;
}
