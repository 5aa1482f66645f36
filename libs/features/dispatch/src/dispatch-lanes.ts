import { canServe, needsFromSpec, type RoutingNeeds, type RoutingRules } from '@svc/routing';
import type { DispatchedJob } from '@svc/store';
import { routingRules } from '@svc/settings';
import { closedTopic } from '@svc/registry';
import { licenseCap, publishDispatch, refuseDispatch } from './place-job';
import type { SchedulingDeps } from './scheduling-deps';

const MAX_JOBS_PER_ROUND = 64;
const MAX_LANES = 64;
const LANE_CACHE_MS = 100;

/**
 * Dispatches waiting jobs to workers with free slots. One call at a time serves a worker; calls made while it runs are
 * coalesced into one more round. See docs/reference/routing.md#selection.
 */
export class LaneDispatcher {
  private readonly busy = new Map<string, { again: boolean }>();
  private lanes: { needs: Map<string, RoutingNeeds>; readAtMs: number } = { needs: new Map(), readAtMs: 0 };

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

  /** Dispatches to every worker with free slots, in case a wake-up was lost. */
  async dispatchToAll(): Promise<void> {
    this.lanes.readAtMs = 0;
    if ((await this.getWaitingLanes()).size === 0) return;
    const free = this.deps.registry
      .routable(this.deps.clock.nowMs())
      .filter(({ id }) => this.deps.registry.freeSlots(id) > 0);
    await Promise.all(free.map(({ id }) => this.dispatchTo(id)));
  }

  private async dispatchRound(workerId: string): Promise<number> {
    const { registry, store, random, clock } = this.deps;
    const worker = registry.findRoutable(workerId, clock.nowMs());
    const room = Math.min(MAX_JOBS_PER_ROUND, registry.freeSlots(workerId));
    if (!worker || room === 0) return 0;
    const rules = await routingRules(this.deps);
    const table = this.deps.fleet.pools();
    const lanes = [...(await this.getWaitingLanes())]
      .filter(([, needs]) => canServe(table, needs, worker, rules) && !this.isReservedForOther(needs, workerId, rules))
      .map(([id]) => id);
    if (lanes.length === 0) return 0;
    const snapshot = await this.getSnapshot();
    // Liveness is rechecked after the last wait before the claim.
    if (!registry.findRoutable(workerId, clock.nowMs())) return 0;
    const taken = await store.jobs.claim({
      worker: { id: worker.id, pool: worker.pool, max: worker.maxParallel },
      lanes: this.sampleLanes(lanes),
      dispatchIds: Array.from({ length: room }, () => random.uuid()),
      licenseCap: licenseCap(this.deps),
      snapshot,
    });
    if (taken.length === 0) {
      this.lanes.readAtMs = 0;
      return 0;
    }
    for (const _ of taken) registry.adjustActive(workerId, 1);
    await Promise.all(taken.map((job) => this.send(job)));
    return taken.length;
  }

  /** A job whose topic was disabled while it waited is refused instead. See docs/architecture.md#the-path-of-a-job. */
  private async send(job: DispatchedJob): Promise<void> {
    const closed = await closedTopic(this.deps, job);
    if (!closed) return publishDispatch(this.deps, job);
    return refuseDispatch(this.deps, job, closed);
  }

  /** The jobs prefer another worker, which is live and has free slots. */
  private isReservedForOther(needs: RoutingNeeds, workerId: string, rules: RoutingRules): boolean {
    const { registry, fleet, clock } = this.deps;
    const { preferredWorkerId: other } = needs;
    if (other === undefined || other === workerId) return false;
    const worker = registry.findRoutable(other, clock.nowMs());
    return worker !== undefined && registry.freeSlots(other) > 0 && canServe(fleet.pools(), needs, worker, rules);
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
    const specs = await this.deps.store.workers.lanes();
    this.lanes = {
      needs: new Map(Object.entries(specs).map(([id, spec]) => [id, needsFromSpec(spec)])),
      readAtMs: nowMs,
    };
    return this.lanes.needs;
  }
}
