import type { Redis } from 'ioredis';
import { keys, type Keys } from './keys';

/** Notifies waiters when a job ends. The batch of scripts that ends jobs publishes their ids, one per line. */
export class JobEndings {
  private readonly waiting = new Map<string, Set<() => void>>();
  private onEnd: (id: string) => void = () => undefined;

  /**
   * @param listener a dedicated connection with automatic resubscription disabled
   * @param shardKeys of the shard; default: the first
   */
  constructor(
    private readonly listener: Redis,
    private readonly shardKeys: Pick<Keys, 'endings'> = keys,
  ) {
    listener.on('message', (_channel, ids: string) => {
      for (const id of ids.split('\n')) {
        this.onEnd(id);
        this.release(id);
      }
    });
    // The client's automatic resubscription causes an unhandled rejection when the connection is closed during it.
    listener.on('ready', () => void listener.subscribe(this.shardKeys.endings()).catch(() => undefined));
  }

  /** Subscribes. After a reconnect it subscribes again; ends missed in between are detected by timeout. */
  async open(): Promise<void> {
    await this.listener.subscribe(this.shardKeys.endings());
  }

  /** Calls this for every job and run that ends, of whichever process. */
  follow(onEnd: (id: string) => void): void {
    this.onEnd = onEnd;
  }

  /** Call this before reading the job, so that no end is missed in between. */
  wait(id: string, forMs: number): { ended: Promise<void>; cancel(): void } {
    let release: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (release = resolve));
    const timer = setTimeout(release, forMs);
    const waiters = this.waiting.get(id) ?? new Set();
    waiters.add(release);
    this.waiting.set(id, waiters);
    const cancel = () => {
      clearTimeout(timer);
      waiters.delete(release);
      if (waiters.size === 0 && this.waiting.get(id) === waiters) this.waiting.delete(id);
      release();
    };
    void ended.then(cancel);
    return { ended, cancel };
  }

  /** Releases all waiters. */
  close(): void {
    for (const id of [...this.waiting.keys()]) this.release(id);
    this.listener.disconnect();
  }

  private release(id: string): void {
    for (const release of [...(this.waiting.get(id) ?? [])]) release();
  }
}
