import type { JobState } from '@svc/lifecycle';
import type { Redis } from 'ioredis';
import type { JobEnding } from './job.record';
import { keys, type Keys } from './keys';

/** The wait for an end. */
export interface EndingWait {
  /**
   * Resolves with the end if it was announced with details; undefined after an end without, or when the time is over; `gap`
   * when ends may have been missed: then read the job, and wait again if it has not ended.
   */
  ended: Promise<JobEnding | 'gap' | undefined>;
  cancel(): void;
}

/** Undefined for text of another version: the waiter then reads the record. */
function parseEnding(text: string): JobEnding | undefined {
  try {
    return JSON.parse(text) as JobEnding;
  } catch {
    return undefined;
  }
}

/** The end of a job or run. */
export interface AnnouncedEnd {
  id: string;
  /** Absent for a run. */
  state?: JobState;
  /** Parses the details, if it was announced with details. */
  read(): JobEnding | undefined;
}
export type EndFollower = (end: AnnouncedEnd) => void;

type Release = (ending?: JobEnding | 'gap') => void;

/**
 * Notifies waiters when a job or run ends. The batch of scripts that ends them announces one per line, separated by tabs: the
 * id, the state of a job and, while clients wait for ends, a `JobEnding` as JSON.
 */
export class JobEndings {
  private readonly waiting = new Map<string, Set<Release>>();
  private readonly followers: EndFollower[] = [];
  private readonly gapFollowers: (() => void)[] = [];

  /**
   * @param listener a dedicated connection with automatic resubscription disabled
   * @param shardKeys of the shard; default: the first
   */
  constructor(
    private readonly listener: Redis,
    private readonly shardKeys: Pick<Keys, 'endings'> = keys,
  ) {
    listener.on('message', (_channel, lines: string) => {
      for (const line of lines.split('\n')) this.announce(line);
    });
    // The client's automatic resubscription causes an unhandled rejection when the connection is closed during it.
    let wasReady = false;
    listener.on('ready', () => {
      const isGap = wasReady;
      wasReady = true;
      const subscribed = listener.subscribe(this.shardKeys.endings());
      subscribed.then(
        () => isGap && this.reportGap(),
        () => undefined,
      );
    });
  }

  /** Subscribes. After a reconnect it subscribes again, and ends every wait, since ends in between were not announced. */
  async open(): Promise<void> {
    await this.listener.subscribe(this.shardKeys.endings());
  }

  /** Calls this for every job and run that ends, of whichever process, before its waiters are released. */
  follow(onEnd: EndFollower): void {
    this.followers.push(onEnd);
  }

  /** Calls this after a time in which ends may have been missed. */
  followGaps(onGap: () => void): void {
    this.gapFollowers.push(onGap);
  }

  /** Call this before reading the job, so that no end is missed in between. */
  wait(id: string, forMs: number): EndingWait {
    let release: Release = () => undefined;
    const ended = new Promise<JobEnding | 'gap' | undefined>((resolve) => (release = resolve));
    const timer = setTimeout(() => release(), forMs);
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
    this.releaseAll();
    this.listener.disconnect();
  }

  private announce(line: string): void {
    // An encoded ending contains no tab.
    const [id = '', state, details] = line.split('\t');
    const read = () => (details === undefined ? undefined : parseEnding(details));
    const end = { id, ...(state !== undefined && { state: state as JobState }), read };
    for (const onEnd of this.followers) onEnd(end);
    if (this.waiting.has(id)) this.release(id, read());
  }

  private reportGap(): void {
    for (const onGap of this.gapFollowers) onGap();
    this.releaseAll('gap');
  }

  private releaseAll(reason?: 'gap'): void {
    for (const id of [...this.waiting.keys()]) this.release(id, reason);
  }

  private release(id: string, ending?: JobEnding | 'gap'): void {
    for (const release of [...(this.waiting.get(id) ?? [])]) release(ending);
  }
}
