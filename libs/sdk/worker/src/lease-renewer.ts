import { JobAborted } from './errors';
import type { Ledger, Receipt } from './ledger';

/**
 * Renews the lease of messages three times per ack wait, and detects missed renewals: a message may then be with another
 * worker, and this one must stop.
 */
export class LeaseRenewer {
  private readonly held = new Set<Receipt>();
  private readonly timer: NodeJS.Timeout;
  private lastTickMs = performance.now();
  private lastContactMs = performance.now();

  constructor(
    private readonly ledger: Pick<Ledger<{ bytes: Uint8Array }>, 'running'>,
    private readonly ackWaitMs: number,
    private readonly isConnected: () => boolean,
  ) {
    this.timer = setInterval(() => this.tick(), ackWaitMs / 3);
  }

  /** Renews a message that waits for a slot. */
  async hold<T>(receipt: Receipt, until: Promise<T>): Promise<T> {
    this.held.add(receipt);
    try {
      return await until;
    } finally {
      this.held.delete(receipt);
    }
  }

  /**
   * Aborts jobs whose lease may be lost. After a pause of the process these are all; while NATS is unreachable only those of
   * shared subjects, because no other worker gets messages of this worker's own subject.
   */
  check(): void {
    const nowMs = performance.now();
    const wasPaused = nowMs - this.lastTickMs > this.ackWaitMs;
    const isOutOfTouch = nowMs - this.lastContactMs > this.ackWaitMs;
    if (!wasPaused && !isOutOfTouch) return;
    for (const { abort, isShared } of this.ledger.running()) {
      if (wasPaused || (isOutOfTouch && isShared)) {
        abort.abort(new JobAborted('lease_lost', 'the message of this job may be with another worker'));
      }
    }
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private tick(): void {
    this.check();
    this.lastTickMs = performance.now();
    if (!this.isConnected()) return;
    this.lastContactMs = this.lastTickMs;
    for (const { receipts } of this.ledger.running()) for (const receipt of receipts) receipt.working();
    for (const receipt of this.held) receipt.working();
  }
}
