import type { JsMsg } from 'nats';
import type { DispatchIdentity } from './job';

/** A durable message, as far as a job's life is bound to it. */
export type Receipt = Pick<JsMsg, 'ack' | 'working' | 'nak' | 'term'>;

export interface Running {
  kind: 'running';
  identity: DispatchIdentity;
  /** The message and its repeats: all are kept alive and acknowledged together. */
  receipts: Receipt[];
  abort: AbortController;
  /** Its messages come from a subject that other workers serve too. */
  isShared: boolean;
}
export interface Finished {
  kind: 'finished';
  /** Publishes the stored result again. */
  republish(): Promise<void>;
  atMs: number;
}

const rememberMs = 10 * 60_000;

/** The dispatches this worker has seen: what runs, and for ten minutes what is done. */
export class Ledger {
  private readonly entries = new Map<string, Running | Finished>();

  find(identity: DispatchIdentity): Running | Finished | undefined {
    return this.entries.get(keyOf(identity));
  }

  begin(running: Running): void {
    this.entries.set(keyOf(running.identity), running);
  }

  finish(identity: DispatchIdentity, republish: () => Promise<void>, nowMs: number): void {
    this.entries.delete(keyOf(identity));
    this.entries.set(keyOf(identity), { kind: 'finished', republish, atMs: nowMs });
    // In the order of their end, so the old ones come first.
    for (const [key, entry] of this.entries) {
      if (entry.kind === 'running') continue;
      if (nowMs - entry.atMs < rememberMs) break;
      this.entries.delete(key);
    }
  }

  /** As if it had never come: the next delivery runs it. */
  forget(identity: DispatchIdentity): void {
    this.entries.delete(keyOf(identity));
  }

  running(): Running[] {
    return [...this.entries.values()].filter((entry) => entry.kind === 'running');
  }
}

const keyOf = ({ jobId, dispatchId, attempt }: DispatchIdentity) => JSON.stringify([jobId, dispatchId, attempt]);
