import type { Redis } from 'ioredis';
import { isUnknownFunction, loadLibrary, type ScriptLibrary } from './script-library';

export type Argument = string | number;

interface Call {
  name: string;
  keys: Argument[];
  args: Argument[];
  bytes: number;
  resolve(reply: unknown): void;
  reject(error: unknown): void;
}

/** Bounds the time for which one batch blocks Redis. */
const MAX_CALLS = 48;
const MAX_BYTES = 1_048_576;
const MAX_IN_FLIGHT = 2;

/**
 * Batches script calls: those of one event loop turn, and those made while earlier batches were in flight. A single call is
 * delayed only until the end of its turn.
 */
export class ScriptBatches {
  private readonly waiting: Call[] = [];
  private inFlight = 0;
  private isScheduled = false;
  private loading: Promise<void> | undefined;

  constructor(
    private readonly redis: Redis,
    private readonly library: ScriptLibrary,
    private readonly keyCounts: ReadonlyMap<string, number>,
  ) {}

  run(name: string, args: readonly Argument[]): Promise<unknown> {
    const keyCount = this.keyCounts.get(name);
    if (keyCount === undefined) throw new Error(`there is no script ${name}`);
    return new Promise((resolve, reject) => {
      const bytes = args.reduce<number>((sum, arg) => sum + (typeof arg === 'string' ? arg.length : 8), 0);
      this.waiting.push({ name, keys: args.slice(0, keyCount), args: args.slice(keyCount), bytes, resolve, reject });
      this.schedule();
    });
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
      const replies = await this.call(calls);
      for (const [i, call] of calls.entries()) {
        const [ok, reply] = replies[i] ?? [0, 'the script returned no reply'];
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

  private async call(calls: readonly Call[]): Promise<[ok: number, reply: unknown][]> {
    const keys = calls.flatMap((call) => call.keys);
    const args = calls.flatMap(({ name, keys: own, args }) => [name, own.length, args.length, ...args]);
    const run = () => this.redis.fcall(this.library.name, keys.length, ...keys, ...args);
    const replies = await run().catch(async (error: unknown) => {
      if (!isUnknownFunction(error)) throw error;
      // Nothing was executed, so the batch can be repeated.
      await (this.loading ??= loadLibrary(this.redis, this.library).finally(() => (this.loading = undefined)));
      return run();
    });
    return replies as [number, unknown][];
  }
}
