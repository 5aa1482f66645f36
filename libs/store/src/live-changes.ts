import type { JobEvent, JobState, RunStatus } from '@svc/lifecycle';
import type { Redis } from 'ioredis';
import { keys, type Keys } from './keys';

/** A job entered a state. */
export interface JobChange {
  kind: 'job';
  id: string;
  event: JobEvent | 'submit';
  state: JobState;
  /** µs, as text. */
  at: string;
  /** Values of `changeFields` as stored, and `request` on submission. */
  fields: Readonly<Record<string, string>>;
}

/** The timeline or the status of a run changed. */
export interface RunChange {
  kind: 'run';
  id: string;
  tenant: string;
  workflow: string;
  status: RunStatus;
  at: string;
}

/** The worker that holds a job reported something. */
export interface ReportChange {
  kind: 'report';
  id: string;
  tenant: string;
  run?: string;
  run_path?: string;
  trace_id?: string;
  worker_id?: string;
  /** JSON object, as in the log of the job. */
  event: string;
}

/** A message was added to the conversation of a run. */
export interface ChatChange {
  kind: 'chat';
  id: string;
  tenant: string;
  at: string;
  message: object;
}

export type Change = JobChange | RunChange | ReportChange | ChatChange;

export interface ChangeFollower {
  onChange(change: Change): void;
  /** Changes may have been missed. */
  onGap(): void;
}

const RENEW_MS = 20_000;
const FOLLOWED_SEC = 60;

/**
 * Follows the changes of all jobs and runs. Scripts announce them only while a process follows, so without stream clients
 * they cost the scripts one key read per batch. See docs/adr/0025-streams.md.
 */
export class LiveChanges {
  private renewal: NodeJS.Timeout | undefined;
  private starting: Promise<void> | undefined;

  /**
   * @param listener a dedicated connection with automatic resubscription disabled
   * @param shardKeys of the shard; default: the first
   */
  constructor(
    private readonly redis: Redis,
    private readonly listener: Redis,
    private readonly follower: ChangeFollower,
    private readonly shardKeys: Pick<Keys, 'changes' | 'changesFollowed'> = keys,
  ) {
    listener.on('message', (_channel, lines: string) => {
      for (const line of lines.split('\n')) this.announce(line);
    });
    // The client's automatic resubscription causes an unhandled rejection when the connection is closed during it.
    listener.on('ready', () => {
      if (!this.renewal) return;
      this.subscribe().then(
        () => follower.onGap(),
        () => undefined,
      );
    });
  }

  /** Resolves when every later change is announced to this process. Safe to repeat. */
  async start(): Promise<void> {
    // Again for each client: the key is lost with a store that restarts empty.
    if (this.starting) return this.starting.then(() => this.renew());
    this.starting = this.open().catch((error: unknown) => {
      this.starting = undefined;
      throw error;
    });
    return this.starting;
  }

  /** Ends the subscription; `start` begins it again. */
  async stop(): Promise<void> {
    clearInterval(this.renewal);
    this.renewal = undefined;
    this.starting = undefined;
    if (this.listener.status === 'ready') await this.listener.unsubscribe(this.shardKeys.changes());
  }

  close(): void {
    clearInterval(this.renewal);
    this.renewal = undefined;
    this.listener.disconnect();
  }

  private async open(): Promise<void> {
    await this.subscribe();
    this.renewal = setInterval(() => void this.renew().catch(() => undefined), RENEW_MS);
  }

  private async subscribe(): Promise<void> {
    await this.listener.subscribe(this.shardKeys.changes());
    await this.renew();
  }

  private async renew(): Promise<void> {
    await this.redis.set(this.shardKeys.changesFollowed(), '1', 'EX', FOLLOWED_SEC);
  }

  private announce(line: string): void {
    try {
      this.follower.onChange(JSON.parse(line) as Change);
    } catch {
      // Of another version: the text, or a kind that the follower does not know.
      this.follower.onGap();
    }
  }
}
