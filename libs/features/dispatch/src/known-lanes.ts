import { canServe, needsFromSpec, type PoolTable, type RoutableWorker } from '@svc/routing';
import type { RoutingNeeds, RoutingRules } from '@svc/routing';

const MAX_LANES = 64;
const REFRESH_AFTER_MS = 100;

/**
 * Waiting lanes as last read. An id determines the needs of its lane, so an old entry is never wrong, and a lane that is
 * missing here only makes a new job wait in its own lane.
 */
export class KnownLanes {
  private needs: readonly (readonly [string, RoutingNeeds])[] = [];
  private readAtMs = -Infinity;

  constructor(private readonly read: () => Promise<Record<string, string>>) {}

  /** Ids of known lanes that a worker does not serve. */
  notServedBy(worker: RoutableWorker, pools: PoolTable, rules: RoutingRules): string[] {
    return this.needs.flatMap(([id, needs]) => (canServe(pools, needs, worker, rules) ? [] : [id]));
  }

  /** Reads the lanes again unless that was done a moment ago. The last version stays in use when this fails. */
  async refresh(nowMs: number): Promise<void> {
    if (nowMs - this.readAtMs < REFRESH_AFTER_MS) return;
    this.readAtMs = nowMs;
    const specs = Object.entries(await this.read());
    // Of more lanes the script searches none.
    this.needs = specs.length > MAX_LANES ? [] : specs.map(([id, spec]) => [id, needsFromSpec(spec)] as const);
  }
}
