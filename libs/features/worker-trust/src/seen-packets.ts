import { PACKETS_KEPT_MS } from './worker-trust.repository';

interface Generation {
  ids: Set<string>;
  /** Latest `created_at` of these packets, µs. */
  newestUs: number;
}

interface SeenOfWorker {
  recent: Generation;
  older: Generation;
  rotatedAtMs: number;
  /** Packets up to this `created_at` are forgotten, µs. */
  forgottenUs: number;
}

/** Packets of one worker per generation; it has two. At the usual intervals these are ten minutes each. */
const MAX_PACKETS = 128;

/**
 * Packets that this process has received, for each worker apart, so that none displaces those of another. A worker that sends
 * more than are remembered loses its oldest; a packet that is not newer than these counts as seen.
 */
export class SeenPackets {
  private readonly workers = new Map<string, SeenOfWorker>();
  private sweptAtMs = -Infinity;

  constructor(private readonly clock: { nowMs(): number }) {}

  /**
   * Remembers a packet of a worker with a valid credential.
   *
   * @param id unique to the worker
   * @returns whether it was seen before
   */
  isKnown(workerId: string, id: string, createdUs: number): boolean {
    const nowMs = this.clock.nowMs();
    this.sweep(nowMs);
    const seen = this.workers.get(workerId) ?? newMemory(nowMs);
    this.workers.set(workerId, seen);
    if (createdUs <= seen.forgottenUs || seen.recent.ids.has(id) || seen.older.ids.has(id)) return true;
    if (seen.recent.ids.size >= MAX_PACKETS || nowMs - seen.rotatedAtMs > PACKETS_KEPT_MS) rotate(seen, nowMs);
    seen.recent.ids.add(id);
    seen.recent.newestUs = Math.max(seen.recent.newestUs, createdUs);
    return false;
  }

  /** Forgets workers whose packets have all expired. */
  private sweep(nowMs: number): void {
    if (nowMs - this.sweptAtMs <= PACKETS_KEPT_MS) return;
    this.sweptAtMs = nowMs;
    for (const [id, { rotatedAtMs }] of this.workers) {
      if (nowMs - rotatedAtMs > 2 * PACKETS_KEPT_MS) this.workers.delete(id);
    }
  }
}

const newGeneration = (): Generation => ({ ids: new Set(), newestUs: -Infinity });

const newMemory = (nowMs: number): SeenOfWorker => ({
  recent: newGeneration(),
  older: newGeneration(),
  rotatedAtMs: nowMs,
  forgottenUs: -Infinity,
});

function rotate(seen: SeenOfWorker, nowMs: number): void {
  seen.forgottenUs = Math.max(seen.forgottenUs, seen.older.newestUs);
  seen.older = seen.recent;
  seen.recent = newGeneration();
  seen.rotatedAtMs = nowMs;
}
