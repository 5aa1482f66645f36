import { inlineDataLabel } from '@svc/contract';
import { canServe, loadScore, needsFromSpec, type RoutingNeeds, type RoutingRules } from '@svc/routing';
import type { ClaimRequest, DispatchedJob, LaneArrival } from '@svc/store';
import { routingRules } from '@svc/settings';
import { closedTopic } from '@svc/registry';
import { FreedSlots, MAX_JOBS_PER_CLAIM } from './freed-slots';
import { licenseCap } from './plan-dispatch';
import { publishDispatch, refuseDispatch } from './place-job';
import type { SchedulingDeps } from './scheduling-deps';

const MAX_LANES = 64;
/** Bounds the reply of a claim. Larger inputs are read for each job. */
const MAX_CLAIMED_INPUT_BYTES = 16_384;
const LANE_CACHE_MS = 100;
/** Longer than any read of the lanes takes. */
const ARRIVAL_KEPT_MS = 10_000;
/** Older lanes are not used with an end: a lane that they lack could have waited since. */
const MAX_LANE_AGE_MS = 2 * LANE_CACHE_MS;

/**
 * Dispatches waiting jobs to workers with free slots. One call at a time serves a worker; calls made while it runs are
 * coalesced into one more round. See docs/reference/routing.md#selection.
 */
export class LaneDispatcher {
  private readonly busy = new Map<string, { again: boolean }>();
  /** Claims of workers whose ends are about to be written. */
  private readonly freed = new Map<string, FreedSlots>();
  private refreshing: Promise<unknown> | undefined;
  private lanes: { needs: Map<string, RoutingNeeds>; readAtMs: number } = { needs: new Map(), readAtMs: 0 };
  /** Lanes announced lately, which a read that began before does not contain. */
  private readonly arrivals = new Map<string, { needs: RoutingNeeds; atMs: number }>();

  constructor(private readonly deps: SchedulingDeps) {}

  /** Dispatches waiting jobs to a worker until none fits or it is full. @returns number of jobs dispatched by this call */
  async dispatchTo(workerId: string): Promise<number> {
    const running = this.busy.get(workerId);
    if (running) {
      running.again = true;
      return 0;
    }
    const state = { again: false };
    this.busy.set(workerId, state);
    let dispatched = 0;
    try {
      do {
        state.again = false;
        for (let taken = -1; taken !== 0; dispatched += taken) taken = await this.dispatchRound(workerId);
      } while (state.again);
      return dispatched;
    } finally {
      this.busy.delete(workerId);
    }
  }

  /** Dispatches from a lane that a gateway has added a job to, to its least loaded workers first. */
  async dispatchFromLane({ id, spec }: LaneArrival): Promise<void> {
    const { registry, fleet, clock } = this.deps;
    const needs = needsFromSpec(spec);
    this.arrivals.set(id, { needs, atMs: clock.nowMs() });
    this.lanes.needs.set(id, needs);
    const rules = await routingRules(this.deps);
    const table = fleet.pools();
    const free = registry
      .routable(clock.nowMs())
      .filter((worker) => registry.freeSlots(worker.id) > 0 && canServe(table, needs, worker, rules))
      .sort((a, b) => loadScore(a) - loadScore(b));
    for (const worker of free) {
      await this.dispatchTo(worker.id);
      // It stopped although it has room: no job waits any more, unless it may run the jobs of one tenant only.
      if (worker.scope?.tenant === undefined && registry.freeSlots(worker.id) > 0) return;
    }
  }

  /** Dispatches to every worker with free slots, in case a wake-up was lost. */
  async dispatchToAll(): Promise<void> {
    for (const id of this.freed.keys()) if (!this.deps.registry.has(id)) this.freed.delete(id);
    this.lanes.readAtMs = 0;
    if ((await this.getWaitingLanes()).size === 0) return;
    const free = this.deps.registry
      .routable(this.deps.clock.nowMs())
      .filter(({ id }) => this.deps.registry.freeSlots(id) > 0);
    await Promise.all(free.map(({ id }) => this.dispatchTo(id)));
  }

  /**
   * The claim to make together with the end of a job of this worker, for the slot that the end frees; undefined when no
   * job is known to wait. Unless the claim fills all free slots, the worker has to be woken after the end.
   */
  async claimWithEnd(workerId: string): Promise<FreedSlots | undefined> {
    const ageMs = this.deps.clock.nowMs() - this.lanes.readAtMs;
    if (this.lanes.needs.size === 0 || ageMs > MAX_LANE_AGE_MS) return undefined;
    // The lanes in use stay valid during the refresh: an id determines the needs of its lane.
    if (ageMs >= LANE_CACHE_MS) this.refreshLanes();
    const [rules, snapshot] = await Promise.all([routingRules(this.deps), this.getSnapshot()]);
    const claim = this.freed.get(workerId) ?? this.openFreedSlots(workerId);
    claim.rules = rules;
    claim.snapshot = snapshot;
    return claim;
  }

  private openFreedSlots(workerId: string): FreedSlots {
    const claim = new FreedSlots(
      (ends, rules, snapshot) => {
        // Later ends belong to another call.
        this.freed.delete(workerId);
        const known = this.busy.has(workerId) ? 0 : this.deps.registry.freeSlots(workerId);
        return this.buildClaim(workerId, known + ends, this.lanes.needs, rules, snapshot);
      },
      ({ jobs, inputs, isFull }, ends) => {
        for (const job of jobs) {
          this.deps.registry.adjustActive(workerId, 1);
          void this.send(job, inputs.get(job.id)).catch((error: unknown) =>
            this.deps.events.publishFailed(job.id, error),
          );
        }
        // Jobs that gateways dispatch are not in the count of this process.
        if (isFull) this.deps.registry.markFull(workerId, ends);
        else if (jobs.length === 0) this.lanes.readAtMs = 0;
      },
    );
    this.freed.set(workerId, claim);
    return claim;
  }

  private async dispatchRound(workerId: string): Promise<number> {
    const { registry, store, clock } = this.deps;
    if (!registry.findRoutable(workerId, clock.nowMs()) || registry.freeSlots(workerId) === 0) return 0;
    const rules = await routingRules(this.deps);
    const lanes = await this.getWaitingLanes();
    if (lanes.size === 0) return 0;
    const snapshot = await this.getSnapshot();
    const request = this.buildClaim(workerId, registry.freeSlots(workerId), lanes, rules, snapshot);
    if (!request) return 0;
    const { jobs, inputs, isFull } = await store.jobs.claim(request);
    for (const _ of jobs) registry.adjustActive(workerId, 1);
    // Jobs that gateways dispatch are not in the count of this process.
    if (isFull) registry.markFull(workerId);
    else if (jobs.length === 0) this.lanes.readAtMs = 0;
    await Promise.all(jobs.map((job) => this.send(job, inputs.get(job.id))));
    return jobs.length;
  }

  /** Checks liveness, so nothing may be awaited between this and the claim. */
  private buildClaim(
    workerId: string,
    slots: number,
    waiting: ReadonlyMap<string, RoutingNeeds>,
    rules: RoutingRules,
    snapshot: string,
  ): ClaimRequest | undefined {
    const { registry, clock, random, fleet } = this.deps;
    const worker = registry.findRoutable(workerId, clock.nowMs());
    const room = Math.min(MAX_JOBS_PER_CLAIM, slots);
    if (!worker || worker.draining || room === 0) return undefined;
    const table = fleet.pools();
    const lanes = [...waiting]
      .filter(([, needs]) => canServe(table, needs, worker, rules) && !this.isReservedForOther(needs, workerId, rules))
      .map(([id]) => id);
    if (lanes.length === 0) return undefined;
    const tenant = registry.tenantOf(workerId);
    return {
      ...(tenant !== undefined && { tenant }),
      worker: { id: worker.id, pool: worker.pool, max: worker.maxParallel },
      lanes: this.sampleLanes(lanes),
      dispatchIds: Array.from({ length: room }, () => random.uuid()),
      licenseCap: licenseCap(this.deps),
      snapshot,
      inputBytes: registry.announces(workerId, inlineDataLabel, clock.nowMs()) ? MAX_CLAIMED_INPUT_BYTES : 0,
    };
  }

  /** A job whose topic was disabled while it waited is refused instead. See docs/architecture.md#the-path-of-a-job. */
  private async send(job: DispatchedJob, input: string | undefined): Promise<void> {
    const closed = await closedTopic(this.deps, job);
    if (!closed) return publishDispatch(this.deps, job, input);
    return refuseDispatch(this.deps, job, closed);
  }

  /** The jobs prefer another worker, which is live and has free slots, or is about to have one. */
  private isReservedForOther(needs: RoutingNeeds, workerId: string, rules: RoutingRules): boolean {
    const { registry, fleet, clock } = this.deps;
    const { preferredWorkerId: other } = needs;
    if (other === undefined || other === workerId) return false;
    const worker = registry.findRoutable(other, clock.nowMs());
    const hasSlots = registry.freeSlots(other) > 0 || this.freed.has(other);
    return worker !== undefined && hasSlots && canServe(fleet.pools(), needs, worker, rules);
  }

  /** Bounds the lanes that one script call reads: beyond the limit, a random range of them. */
  private sampleLanes(lanes: string[]): string[] {
    if (lanes.length <= MAX_LANES) return lanes;
    const from = Math.floor(this.deps.random.number() * lanes.length);
    return [...lanes.slice(from), ...lanes.slice(0, from)].slice(0, MAX_LANES);
  }

  /** '' when policy is unavailable: existing decisions stay in effect. */
  private async getSnapshot(): Promise<string> {
    const [current] = await this.deps.kernel.listSnapshots().catch(() => [] as string[]);
    return current?.split('|')[0] ?? '';
  }

  private async getWaitingLanes(): Promise<Map<string, RoutingNeeds>> {
    const nowMs = this.deps.clock.nowMs();
    if (nowMs - this.lanes.readAtMs < LANE_CACHE_MS) return this.lanes.needs;
    return this.readLanes(nowMs);
  }

  private refreshLanes(): void {
    this.refreshing ??= this.readLanes(this.deps.clock.nowMs())
      .catch(() => undefined)
      .finally(() => (this.refreshing = undefined));
  }

  private async readLanes(nowMs: number): Promise<Map<string, RoutingNeeds>> {
    const specs = await this.deps.store.workers.lanes();
    const needs = new Map(Object.entries(specs).map(([id, spec]) => [id, needsFromSpec(spec)]));
    for (const [id, arrival] of this.arrivals) {
      if (arrival.atMs >= nowMs) needs.set(id, arrival.needs);
      else if (nowMs - arrival.atMs > ARRIVAL_KEPT_MS) this.arrivals.delete(id);
    }
    this.lanes = { needs, readAtMs: nowMs };
    return needs;
  }
}
