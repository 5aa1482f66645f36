import type { JsMsg } from 'nats';
import type { Abort } from './abort';
import type { DispatchIdentity } from './job';

/** Acknowledgement of a durable message. */
export type Receipt = Pick<JsMsg, 'ack' | 'working' | 'nak' | 'term'>;

export interface Running {
  kind: 'running';
  /** Of the ledger; see `ledgerKey`. */
  key: string;
  identity: DispatchIdentity;
  /** The message and its repeats, which are renewed and acknowledged together. */
  receipts: Receipt[];
  abort: Abort;
  /** Received on a subject shared with other workers. */
  isShared: boolean;
}
export interface Finished<Result extends { bytes: Uint8Array }> {
  kind: 'finished';
  /** The stored result, which a repeat of the dispatch publishes again. */
  result: Result;
  atMs: number;
}

const rememberMs = 10 * 60_000;
/** Results remembered for repeats; the oldest are dropped. */
const MAX_RESULTS = 10_000;
/** Total size of the remembered results up to which bodies are sent within the result. */
const MAX_RESULT_BYTES = 32 * 1024 * 1024;
/** Removing single results from the front of a large map is slow. */
const EVICT_EVERY = 500;

/** Identifies a dispatch within the ledger. */
export const ledgerKey = ({ jobId, dispatchId, attempt }: DispatchIdentity): string =>
  `${attempt}:${jobId.length}:${jobId}${dispatchId}`;

/** Running dispatches, and finished ones for at least ten minutes, up to a number. */
export class Ledger<Result extends { bytes: Uint8Array }> {
  private readonly runs = new Map<string, Running>();
  /** In completion order. */
  private readonly ends = new Map<string, Finished<Result>>();
  private endsSinceEviction = 0;
  private finishedBytes = 0;

  find(key: string): Running | Finished<Result> | undefined {
    return this.runs.get(key) ?? this.ends.get(key);
  }

  /** Whether the results stay within their memory limit with one more of this size. */
  hasRoomFor(bytes: number): boolean {
    return this.finishedBytes + bytes <= MAX_RESULT_BYTES;
  }

  begin(running: Running): void {
    this.runs.set(running.key, running);
  }

  finish({ key }: Running, result: Result, nowMs: number): void {
    this.runs.delete(key);
    this.ends.set(key, { kind: 'finished', result, atMs: nowMs });
    this.finishedBytes += result.bytes.length;
    this.endsSinceEviction += 1;
    if (this.endsSinceEviction >= EVICT_EVERY) this.evict(nowMs);
  }

  /** Removes the dispatch, so that the next delivery runs it. */
  forget({ key }: Running): void {
    this.runs.delete(key);
  }

  running(): Iterable<Running> {
    return this.runs.values();
  }

  private evict(nowMs: number): void {
    this.endsSinceEviction = 0;
    for (const [old, { atMs, result }] of this.ends) {
      if (this.ends.size <= MAX_RESULTS && nowMs - atMs < rememberMs) break;
      this.ends.delete(old);
      this.finishedBytes -= result.bytes.length;
    }
  }
}
