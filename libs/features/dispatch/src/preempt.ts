import { defaultSettings, type DispatchIdentity } from '@svc/contract';
import { isInFlight } from '@svc/lifecycle';
import { canServe, servesTenant, type RoutingNeeds } from '@svc/routing';
import type { QueueEntry, JobRecord } from '@svc/store';
import { numberAt, routingRules, section } from '@svc/settings';
import { type Intent, transitionAndPublish } from '@svc/jobs';
import { dispatchIdentity, isStaleDispatch, toConfigScope } from '@svc/decision';
import { entryPriority, delayToDeadline } from './queue-entry';
import type { SchedulingDeps } from './scheduling-deps';

/** Label that excludes a batch job from preemption when `false`. */
const optOut = 'preemptible';
const waitingReason = 'preempted by a critical job';
const minDelayMs = 1_000;
/** Largest value of the packet's field. */
const maxGraceSec = 2 ** 31 - 1;

/**
 * Frees a slot for a critical job when every eligible worker is full: one batch job is stopped and retried, without using up
 * a retry. The most recently started one is chosen, since it loses the least work. See docs/reference/routing.md#preemption.
 *
 * @returns whether a slot was freed
 */
export async function preemptFor(deps: SchedulingDeps, job: JobRecord, needs: RoutingNeeds): Promise<boolean> {
  if (job.request.priority !== 'critical') return false;
  const config = await deps.config.at(toConfigScope(job, 'team'));
  if (!section(config, 'resources', { ...defaultSettings.resources }).preemption_enabled) return false;
  const rules = await routingRules(deps);
  const workers = deps.registry
    .routable(deps.clock.nowMs())
    .filter((worker) => servesTenant(worker, job.tenant) && canServe(deps.fleet.pools(), needs, worker, rules));
  const held = await Promise.all(workers.map(({ id }) => deps.store.workers.inFlight(id)));
  const running = await deps.store.index.records(held.flat());
  const victim = running
    .filter((other) => isInFlight(other.state) && other.request.priority === 'batch')
    .filter((other) => other.request.labels[optOut] !== 'false' && other.run === undefined)
    .sort((a, b) => (b.started_at ?? 0) - (a.started_at ?? 0))[0];
  if (!victim?.worker_id || !victim.dispatch_id) return false;
  const grace_sec = await graceSec(deps, victim);
  const dispatch = dispatchIdentity(victim);
  const intent: Intent = { cancel: 'preempted', grace_sec, ...(dispatch && { dispatch }) };
  const times = (victim.preempted ?? 0) + 1;
  // Its worker may still be running it: no other worker gets it before that worker responds or the grace period ends.
  const delayMs = delayToDeadline(deps, victim, Math.max(minDelayMs, grace_sec * 1_000));
  const moved = await transitionAndPublish(deps, victim, 'preempt', {
    dispatchId: victim.dispatch_id,
    set: { preempted: times, waiting_reason: waitingReason },
    queueEntries: [preemptedEntry({ ...victim, preempted: times }, delayMs)],
    intent: JSON.stringify(intent),
  });
  if (!moved) return false;
  deps.events.preempted(victim.id);
  deps.registry.releaseEarly(victim.worker_id, victim.id, deps.clock.nowMs() + delayMs);
  deps.wake(victim.worker_id);
  return true;
}

/** Grace period of a stopped job: `resources.preemption_grace_period` of its own config. */
async function graceSec({ config }: SchedulingDeps, job: JobRecord): Promise<number> {
  const own = await config.at(toConfigScope(job, 'workflow'));
  const standard = defaultSettings.resources.preemption_grace_period;
  const sec = numberAt(own, 'resources', 'preemption_grace_period') ?? standard;
  return Math.min(maxGraceSec, Math.max(0, Math.ceil(sec)));
}

const preemptedEntry = (job: JobRecord, delayMs: number): QueueEntry => ({
  queue: 'jobs',
  suffix: `preempted-${job.preempted ?? 0}`,
  delay_ms: delayMs,
  priority: entryPriority(job),
});

/** Requeues a preempted job at once when its worker has ended it, instead of after the grace period. */
export async function afterPreemption(
  deps: SchedulingDeps,
  job: JobRecord,
  dispatch: DispatchIdentity | undefined,
): Promise<void> {
  if (job.state !== 'RETRYING' || job.waiting_reason !== waitingReason) return;
  if (isStaleDispatch(dispatch, job)) return;
  const entry = preemptedEntry(job, 0);
  const where = { states: ['RETRYING'], dispatchId: job.dispatch_id ?? '' } as const;
  // After a crash between these two writes the replayer finds that the job has no queue entry.
  if (!(await deps.store.jobs.note(job.id, where, {}, entry))) return;
  await deps.store.jobs.requeue(job, `${entry.suffix}-ended`, entryPriority(job));
}
