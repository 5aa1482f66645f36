import {
  awaitedWorker,
  chooseWorker,
  levels,
  servesTenant,
  toLane,
  toRoutingNeeds,
  timeoutsFor,
  waitingReason,
  withActivePool,
} from '@svc/routing';
import type { RoutableWorker, RoutingNeeds, RoutingRules } from '@svc/routing';
import type { Base, Fleet, LicenseLimits } from '@svc/platform';
import type { DispatchPlan, JobRecord } from '@svc/store';
import { turnCost } from '@svc/settings';
import { toWorkflowStep } from '@svc/decision';
import { queueEndsMs } from './queue-entry';
import type { WorkerRegistry } from './worker-registry';

/** Upper bound of the time until a waiting job is checked again. */
const RECHECK_MS = 10 * 60_000;

export interface PlanDeps extends Pick<Base, 'clock' | 'random'> {
  registry: Pick<WorkerRegistry, 'routable'>;
  fleet: Fleet;
  license(): LicenseLimits;
}

/** A job that policy permits, new or as it is stored. */
export type PlannedJob = Pick<
  JobRecord,
  | 'topic'
  | 'tenant'
  | 'state'
  | 'run'
  | 'request'
  | 'worker_id'
  | 'dispatch_id'
  | 'deadline_ms'
  | 'created_at'
  | 'attempts'
>;

export interface PlanInputs {
  rules: RoutingRules;
  /** Effective for the tenant and team of the job. */
  config: Record<string, unknown> | undefined;
  /** Of the decision that permits the job. */
  constraints: Record<string, unknown> | undefined;
}

/** A proposal for the script that dispatches the job or adds it to its lane. */
export interface PlannedDispatch {
  plan: DispatchPlan;
  needs: RoutingNeeds;
  worker?: RoutableWorker;
  /** The same dispatch again, to the worker that may have received it. */
  isRepeat: boolean;
}

/**
 * Selects a worker and a lane for a permitted job. Synchronous, so that the worker's liveness is checked directly before the
 * write that dispatches. See docs/reference/routing.md#selection.
 */
export function planDispatch(deps: PlanDeps, job: PlannedJob, inputs: PlanInputs): PlannedDispatch {
  const { clock, random, registry, fleet } = deps;
  const { rules, config, constraints } = inputs;
  const needs = toRoutingNeeds(job.topic, job.request.requires, job.request.labels);
  const { affinity } = job.request.labels;
  // A failed publish may still have reached the worker. The same worker gets the same dispatch again, and the bus or the
  // worker drops the duplicate; any other worker would execute it a second time.
  const undelivered = job.state === 'SCHEDULED' ? job.worker_id : undefined;
  const preferredWorkerId = undelivered ?? job.request.labels['preferred_worker_id'];
  const preferences = { ...(preferredWorkerId && { preferredWorkerId }), ...(affinity && { affinity }) };
  const nowMs = clock.nowMs();
  // The holder of an undelivered dispatch may have received the job: it is a candidate until it is declared lost.
  const workers = registry.routable(nowMs, undelivered).filter((worker) => servesTenant(worker, job.tenant));
  const holder = undelivered && workers.find(({ id }) => id === undelivered);
  // A pool that gets no jobs keeps those that its workers may have received. The script refuses any other dispatch to it.
  const table = holder ? withActivePool(fleet.pools(), holder.pool) : fleet.pools();
  const choice = chooseWorker(table, needs, preferences, workers, rules, () => random.number());
  const awaited = awaitedWorker(table, needs, preferences, workers, rules);
  const worker = choice.kind === 'worker' ? choice.worker : undefined;
  const isRepeat = worker !== undefined && worker.id === undelivered && job.dispatch_id !== undefined;
  const plan = {
    lane: {
      ...toLane({ ...needs, ...(awaited && { preferredWorkerId: awaited }) }),
      level: levels[job.request.priority],
    },
    ...(worker && { worker: { id: worker.id, pool: worker.pool, max: worker.maxParallel } }),
    dispatchId: (isRepeat && job.dispatch_id) || random.uuid(),
    reason: choice.kind === 'none' ? waitingReason(choice) : 'pool_overloaded',
    runMs: runningTime(deps, job, constraints),
    deadlineMs: job.deadline_ms,
    tenantCap: getBudget(constraints, 'max_concurrent_jobs') ?? 0,
    turnCost: turnCost(config),
    licenseCap: licenseCap(deps),
    waitMs: waitingTime(deps, job, nowMs),
  };
  return { plan, needs, isRepeat, ...(worker && { worker }) };
}

/** Time limit of one dispatch: until the deadline if there is one, else the running timeout; policy may lower it. */
function runningTime(
  { fleet, clock }: PlanDeps,
  job: PlannedJob,
  constraints: Record<string, unknown> | undefined,
): number {
  const { runningMs } = timeoutsFor(fleet.timeouts(), job.topic, toWorkflowStep(job).workflow);
  const remaining = job.deadline_ms > 0 ? Math.max(1, job.deadline_ms - clock.nowMs()) : runningMs;
  return Math.min(getBudget(constraints, 'max_runtime_ms') ?? Infinity, remaining);
}

function waitingTime({ fleet }: PlanDeps, job: PlannedJob, nowMs: number): number {
  const { maxPendingMs } = timeoutsFor(fleet.timeouts(), job.topic, toWorkflowStep(job).workflow);
  const queueEnds = queueEndsMs(job);
  const ends = [
    RECHECK_MS,
    ...(job.deadline_ms > 0 ? [job.deadline_ms - nowMs] : []),
    ...(maxPendingMs === undefined ? [] : [job.created_at / 1_000 + maxPendingMs - nowMs]),
    ...(queueEnds === undefined ? [] : [queueEnds - nowMs]),
  ];
  return Math.max(1, Math.ceil(Math.min(...ends)));
}

/** -1 and 0 mean no limit. */
export function licenseCap(deps: Pick<PlanDeps, 'license'>): number {
  return Math.max(0, deps.license().maxConcurrentJobs);
}

/** A limit in the constraints of a decision, if it sets one. */
export const getBudget = (constraints: Record<string, unknown> | undefined, name: string): number | undefined => {
  const value = (constraints?.['budgets'] as Record<string, unknown> | undefined)?.[name];
  return typeof value === 'number' && value > 0 ? value : undefined;
};
