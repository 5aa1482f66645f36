interface Allowance {
  steps: number;
  atMs: number;
}

/** Steps of handshakes that one process answers, on average and at once. */
export const handshakeRates = {
  /** A handshake has two steps. */
  worker: { perSecond: 5, burst: 20 },
  all: { perSecond: 400, burst: 800 },
} as const;

/**
 * Bounds the signatures that a process verifies and makes for handshakes: each costs about 0.1 ms, and senders are not
 * verified yet. Senders without a credential share one allowance.
 */
export class HandshakeRate {
  private readonly workers = new Map<string, Allowance>();
  private readonly all: Allowance;

  constructor(private readonly clock: { nowMs(): number }) {
    this.all = { steps: handshakeRates.all.burst, atMs: clock.nowMs() };
  }

  /** @param workerId a worker with a credential, so that their number is bounded; '' for any other sender */
  allows(workerId: string): boolean {
    const { worker, all } = handshakeRates;
    const nowMs = this.clock.nowMs();
    const own = this.workers.get(workerId) ?? { steps: worker.burst, atMs: nowMs };
    this.workers.set(workerId, own);
    // Its own allowance first, so that one sender takes little of the common one.
    return takeStep(own, worker, nowMs) && takeStep(this.all, all, nowMs);
  }
}

function takeStep(allowance: Allowance, rate: { perSecond: number; burst: number }, nowMs: number): boolean {
  const earned = (Math.max(0, nowMs - allowance.atMs) / 1_000) * rate.perSecond;
  allowance.steps = Math.min(rate.burst, allowance.steps + earned);
  allowance.atMs = nowMs;
  if (allowance.steps < 1) return false;
  allowance.steps -= 1;
  return true;
}
