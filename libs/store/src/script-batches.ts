import type { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { isUnknownFunction, loadLibrary, type ScriptLibrary } from './script-library';

export type Argument = string | number | Buffer;

/** A call that runs at the end of each batch with calls that name it, once per batch. */
export interface FollowUp {
  name: string;
  /**
   * Keys and arguments of the call, requested when the batch is sent; undefined = no call.
   *
   * @param count number of calls of the batch that name it
   */
  build(count: number): readonly Argument[] | undefined;
  /** Receives the reply before the calls of the batch resolve. Not called when the call or the batch fails. */
  settle(reply: unknown): void;
}

/** A call without a caller who waits for its reply. */
export interface PlainCall {
  name: string;
  keys: Argument[];
  args: Argument[];
  bytes: number;
}

interface Call extends PlainCall {
  /** Runs directly after this call. Its reply is not read. */
  next?: PlainCall | undefined;
  followUp?: FollowUp | undefined;
  resolve(reply: unknown): void;
  reject(error: unknown): void;
}

/** Bounds the time for which one batch blocks Redis. */
const MAX_CALLS = 48;
const MAX_BYTES = 1_048_576;
const MAX_IN_FLIGHT = 2;
/** Of a batch whose library is missing. */
const MAX_ATTEMPTS = 10;
/** Random, so that services of two versions do not delete each other's library in step; longer with each attempt. */
const MAX_PAUSE_MS = 10;
/** Delay of calls without urgency. */
const COLLECT_MS = 25;

/**
 * Batches script calls: those of one event loop turn, and those made while earlier batches were in flight. A single call is
 * delayed only until the end of its turn.
 */
export class ScriptBatches {
  private readonly waiting: Call[] = [];
  /** Calls without urgency, which join `waiting` together. */
  private readonly collected: Call[] = [];
  private inFlight = 0;
  private isScheduled = false;
  private loading: Promise<void> | undefined;

  constructor(
    private readonly redis: Redis,
    private readonly library: ScriptLibrary,
    private readonly keyCounts: ReadonlyMap<string, number>,
  ) {}

  /** @param next a call that runs directly after this one */
  run(name: string, args: readonly Argument[], followUp?: FollowUp, next?: PlainCall): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ...this.toCall(name, args), next, followUp, resolve, reject });
      this.schedule();
    });
  }

  /** The same for a call without urgency, which is delayed so that many of them share a batch. */
  runSoon(name: string, args: readonly Argument[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.collected.push({ ...this.toCall(name, args), resolve, reject }) > 1) return;
      setTimeout(() => {
        this.waiting.push(...this.collected.splice(0));
        this.schedule();
      }, COLLECT_MS);
    });
  }

  /** @throws Error for an unknown script */
  toCall(name: string, args: readonly Argument[]): PlainCall {
    const keyCount = this.keyCounts.get(name);
    if (keyCount === undefined) throw new Error(`there is no script ${name}`);
    const bytes = args.reduce<number>((sum, arg) => sum + (typeof arg === 'number' ? 8 : arg.length), 0);
    return { name, keys: args.slice(0, keyCount), args: args.slice(keyCount), bytes };
  }

  private schedule(): void {
    if (this.isScheduled || this.inFlight >= MAX_IN_FLIGHT) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      void this.send();
    });
  }

  private async send(): Promise<void> {
    const calls = this.take();
    if (calls.length === 0) return;
    this.inFlight++;
    if (this.waiting.length > 0) this.schedule();
    try {
      const followUps = this.buildFollowUps(calls);
      const own = calls.flatMap((call) => (call.next ? [call, call.next] : [call]));
      const replies = await this.call([...own, ...followUps.map(({ call }) => call)]);
      for (const [i, { followUp }] of followUps.entries()) {
        const [ok, reply] = replies[own.length + i] ?? [0];
        if (ok === 1) followUp.settle(reply ?? null);
      }
      let at = 0;
      for (const call of calls) {
        const [ok, reply] = replies[at] ?? [0, 'the script returned no reply'];
        at += call.next ? 2 : 1;
        if (ok === 1) call.resolve(reply ?? null);
        else call.reject(new Error(String(reply)));
      }
    } catch (error) {
      for (const { reject } of calls) reject(error);
    } finally {
      this.inFlight--;
      if (this.waiting.length > 0) this.schedule();
    }
  }

  private take(): Call[] {
    let count = 0;
    let bytes = 0;
    for (const call of this.waiting) {
      if (count === MAX_CALLS || (count > 0 && bytes + call.bytes > MAX_BYTES)) break;
      bytes += call.bytes;
      count++;
    }
    return this.waiting.splice(0, count);
  }

  private buildFollowUps(calls: readonly Call[]) {
    const counts = new Map<FollowUp, number>();
    for (const { followUp } of calls) if (followUp) counts.set(followUp, (counts.get(followUp) ?? 0) + 1);
    return [...counts].flatMap(([followUp, count]) => {
      const args = followUp.build(count);
      return args ? [{ followUp, call: this.toCall(followUp.name, args) }] : [];
    });
  }

  private async call(calls: readonly PlainCall[]): Promise<[ok: number, reply: unknown][]> {
    const keys = calls.flatMap((call) => call.keys);
    const args = calls.flatMap(({ name, keys: own, args }) => [name, own.length, args.length, ...args]);
    const run = () => this.redis.fcall(this.library.name, keys.length, ...keys, ...args);
    let replies: unknown;
    for (let attempt = 1; replies === undefined; attempt += 1) {
      try {
        replies = await run();
      } catch (error) {
        if (!isUnknownFunction(error) || attempt === MAX_ATTEMPTS) throw error;
        // Nothing was executed, so the batch can be repeated. A service of another version deletes the library when it loads
        // its own, which may happen again before the repeat.
        if (attempt > 1) await sleep(attempt * MAX_PAUSE_MS * Math.random());
        await (this.loading ??= loadLibrary(this.redis, this.library).finally(() => (this.loading = undefined)));
      }
    }
    return replies as [number, unknown][];
  }
}
