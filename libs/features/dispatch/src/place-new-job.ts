import { planReservation } from '@svc/budget';
import { isGate } from '@svc/contract';
import type { NewJobPlacement, PermittedJob, ProposedPlacement } from '@svc/jobs';
import { type BoundarySettings, type EffectiveConfig, routingRules } from '@svc/settings';
import type { AnnouncedEnd, JobRecord, Placed } from '@svc/store';
import { policyPart } from '@svc/decision';
import { KnownLanes } from './known-lanes';
import { planDispatch, type PlanDeps, type PlannedDispatch } from './plan-dispatch';
import type { SchedulingEvents } from './scheduling-deps';
import { sendDispatch, type SendDeps } from './send-dispatch';
import { isTakenBack, StartWrites } from './start-writes';
import type { WorkerRegistry } from './worker-registry';

export interface PlacementDeps extends PlanDeps, Omit<SendDeps, 'starts'> {
  registry: WorkerRegistry;
  config: Pick<EffectiveConfig, 'at' | 'budgetsAt' | 'textAt'>;
  settings: BoundarySettings;
  /** False: jobs are added to their lanes only. */
  mayDispatch: boolean;
  events: Pick<SchedulingEvents, 'received' | 'waiting' | 'dispatched' | 'rolledBack' | 'startFailed'> & {
    /** A step after the accepting call failed; the reconciler repeats it. */
    placementFailed(jobId: string, error: unknown): void;
  };
}

/** The job's own limits by key kept it from the worker. */
const isLimited = (placed: Placed): boolean =>
  placed.kind === 'cancelled' || (placed.kind === 'waiting' && limitReasons.includes(placed.reason));
const limitReasons: readonly string[] = ['concurrency_limit', 'rate_limit', 'debounce'];

/** Bounds the memory for jobs whose ends are not announced here. */
const MAX_TRACKED = 8_192;

/**
 * Proposes where the accepting call puts a job that policy permits, and publishes its dispatch. Jobs that need more than
 * that call go to the queue of undecided jobs: approval gates, jobs that do not fit in their budgets, and critical jobs
 * without a free worker, for which the scheduler may preempt others. See docs/adr/0018-dispatch-at-submission.md.
 */
export class PlacementAtSubmission implements NewJobPlacement {
  private readonly lanes: KnownLanes;
  private readonly workerOf = new Map<string, string>();
  private readonly sending = new Set<Promise<void>>();
  private readonly starts: StartWrites;

  constructor(private readonly deps: PlacementDeps) {
    this.lanes = new KnownLanes(() => deps.store.workers.lanes());
    this.starts = new StartWrites(deps);
  }

  async propose({ record, context, decision, config }: PermittedJob): Promise<ProposedPlacement | undefined> {
    const { registry, fleet, mayDispatch } = this.deps;
    if (isGate(record.topic)) return undefined;
    const budget = await planReservation(this.deps, record);
    if (budget.kind === 'left_to_scheduler') return undefined;
    const rules = await routingRules(this.deps);
    const planned = planDispatch(this.deps, record, { rules, config, constraints: decision.constraints });
    // A process that is disconnected from the bus could not publish, and does not notice that workers leave.
    const worker = mayDispatch && registry.isBusConnected() ? planned.worker : undefined;
    const mayWait = record.request.priority !== 'critical';
    if (!worker && !mayWait) return undefined;
    const { worker: slot, ...plan } = planned.plan;
    const place = {
      ...plan,
      ...(worker && slot && { worker: slot }),
      snapshot: policyPart(decision.policy_snapshot ?? ''),
      otherLanes: worker ? this.lanes.notServedBy(worker, fleet.pools(), rules) : [],
      mayWait,
      ...(budget.kind === 'reserve' && { budget: budget.reservation }),
    };
    return { place, settle: (placed) => this.settle(record, context, planned, placed) };
  }

  /** A job has ended: if it was dispatched here, its worker has a free slot. */
  ended({ id, state }: Pick<AnnouncedEnd, 'id' | 'state'>): void {
    const workerId = this.workerOf.get(id);
    if (workerId === undefined) return;
    this.workerOf.delete(id);
    // The refused write of its start shows whether the worker must be notified again that the job was cancelled.
    if (!isTakenBack(state)) this.starts.drop(id);
    this.deps.registry.adjustActive(workerId, -1);
  }

  /** Resolves when every dispatch of this process was published, with its start recorded, or rolled back. */
  async idle(): Promise<void> {
    await Promise.all(this.sending);
    await this.starts.flush();
  }

  private settle(record: JobRecord, context: string, { plan, worker }: PlannedDispatch, placed: Placed): void {
    const { events } = this.deps;
    const { topic, id } = record;
    if (placed.kind !== 'queued') events.received(topic);
    if (placed.kind === 'waiting') events.waiting(topic, placed.reason);
    // Another job took the slot, or a job waits in a lane that this process does not know.
    const isOutdated = worker !== undefined && placed.kind !== 'dispatched' && !isLimited(placed);
    const failed = (error: unknown) => events.placementFailed(id, error);
    if (isOutdated) void this.lanes.refresh(this.deps.clock.nowMs()).catch(failed);
    if (placed.kind !== 'dispatched' || !worker) return;
    this.track(id, worker.id);
    // A rolled back dispatch frees the slot like an end.
    const registry: SendDeps['registry'] = {
      adjustActive: () => this.ended({ id }),
      announces: (...ability) => this.deps.registry.announces(...ability),
      mayHave: (...ability) => this.deps.registry.mayHave(...ability),
    };
    const sent = sendDispatch(
      { ...this.deps, registry, starts: this.starts },
      {
        ...record,
        attempts: placed.attempt,
        worker_id: worker.id,
        dispatch_id: plan.dispatchId,
        run_ms: plan.runMs,
      },
      context,
    ).catch(failed);
    this.sending.add(sent);
    void sent.then(() => this.sending.delete(sent));
  }

  private track(jobId: string, workerId: string): void {
    this.deps.registry.adjustActive(workerId, 1);
    this.workerOf.set(jobId, workerId);
    if (this.workerOf.size <= MAX_TRACKED) return;
    const [oldest] = this.workerOf.keys();
    if (oldest !== undefined) this.workerOf.delete(oldest);
  }
}
