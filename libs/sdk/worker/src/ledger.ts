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
/** Results are remembered to be said again; a worker of many short jobs remembers the latest. */
const mostRemembered = 10_000;

/** The dispatches this worker has seen: what runs, and for ten minutes what is done. */
export class Ledger {
  private readonly runs = new Map<string, Running>();
  /** In the order of their end. */
  private readonly ends = new Map<string, Finished>();

  find(identity: DispatchIdentity): Running | Finished | undefined {
    const key = keyOf(identity);
    return this.runs.get(key) ?? this.ends.get(key);
  }

  begin(running: Running): void {
    this.runs.set(keyOf(running.identity), running);
  }

  finish(identity: DispatchIdentity, republish: () => Promise<void>, nowMs: number): void {
    const key = keyOf(identity);
    this.runs.delete(key);
    this.ends.set(key, { kind: 'finished', republish, atMs: nowMs });
    for (const [old, { atMs }] of this.ends) {
      if (this.ends.size <= mostRemembered && nowMs - atMs < rememberMs) break;
      this.ends.delete(old);
    }
  }

  /** As if it had never come: the next delivery runs it. */
  forget(identity: DispatchIdentity): void {
    this.runs.delete(keyOf(identity));
  }

  running(): Running[] {
    return [...this.runs.values()];
  }
}

const keyOf = ({ jobId, dispatchId, attempt }: DispatchIdentity) => JSON.stringify([jobId, dispatchId, attempt]);
