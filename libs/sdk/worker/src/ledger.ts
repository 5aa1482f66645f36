import type { JsMsg } from 'nats';
import type { DispatchIdentity } from './job';

/** Acknowledgement of a durable message. */
export type Receipt = Pick<JsMsg, 'ack' | 'working' | 'nak' | 'term'>;

export interface Running {
  kind: 'running';
  identity: DispatchIdentity;
  /** The message and its repeats, which are renewed and acknowledged together. */
  receipts: Receipt[];
  abort: AbortController;
  /** Received on a subject shared with other workers. */
  isShared: boolean;
}
export interface Finished {
  kind: 'finished';
  /** Publishes the stored result again. */
  republish(): Promise<void>;
  atMs: number;
}

const rememberMs = 10 * 60_000;
/** Maximum stored results for republishing; the oldest are dropped. */
const MAX_RESULTS = 10_000;

/** Running dispatches, and finished ones for ten minutes. */
export class Ledger {
  private readonly runs = new Map<string, Running>();
  /** In completion order. */
  private readonly ends = new Map<string, Finished>();

  find(identity: DispatchIdentity): Running | Finished | undefined {
    const key = toKey(identity);
    return this.runs.get(key) ?? this.ends.get(key);
  }

  begin(running: Running): void {
    this.runs.set(toKey(running.identity), running);
  }

  finish(identity: DispatchIdentity, republish: () => Promise<void>, nowMs: number): void {
    const key = toKey(identity);
    this.runs.delete(key);
    this.ends.set(key, { kind: 'finished', republish, atMs: nowMs });
    for (const [old, { atMs }] of this.ends) {
      if (this.ends.size <= MAX_RESULTS && nowMs - atMs < rememberMs) break;
      this.ends.delete(old);
    }
  }

  /** Removes the dispatch, so that the next delivery runs it. */
  forget(identity: DispatchIdentity): void {
    this.runs.delete(toKey(identity));
  }

  running(): Running[] {
    return [...this.runs.values()];
  }
}

const toKey = ({ jobId, dispatchId, attempt }: DispatchIdentity) => JSON.stringify([jobId, dispatchId, attempt]);
