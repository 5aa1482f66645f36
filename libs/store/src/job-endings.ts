import type { Redis } from 'ioredis';
import { keys } from './keys';

/** Tells those who wait for a job that it has ended, as the script that ends it publishes its id. */
export class JobEndings {
  private readonly waiting = new Map<string, Set<() => void>>();

  /** @param listener a connection of its own, which does nothing else and does not subscribe again by itself */
  constructor(private readonly listener: Redis) {
    listener.on('message', (_channel, id: string) => this.release(id));
    // By ourselves: the client's own way leaves a rejection that nobody hears when it is closed meanwhile.
    listener.on('ready', () => void listener.subscribe(keys.endings()).catch(() => undefined));
  }

  /** Begins to listen. After a lost connection it listens again; what ended meanwhile is noticed by time-out. */
  async open(): Promise<void> {
    await this.listener.subscribe(keys.endings());
  }

  /** Ask for this before you look at the job, so that an end in between is not missed. */
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

  /** Lets all who wait go on. */
  close(): void {
    for (const id of [...this.waiting.keys()]) this.release(id);
    this.listener.disconnect();
  }

  private release(id: string): void {
    for (const release of [...(this.waiting.get(id) ?? [])]) release();
  }
}
