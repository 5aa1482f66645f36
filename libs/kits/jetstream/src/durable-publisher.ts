import { createInbox, type Msg, type MsgHdrs, type NatsConnection, type Subscription } from 'nats';
import { EndOfTurn } from './end-of-turn';

/** JetStream's confirmation that a message is stored. */
export interface Stored {
  stream: string;
  seq: number;
  /** The message id was known, so nothing was stored. */
  duplicate: boolean;
}

export type PublishFailure = 'timeout' | 'no_stream' | 'refused' | 'closed';

/**
 * A publish that JetStream did not confirm. After `timeout` and `closed` the message may be stored nevertheless: retry with
 * the same message id.
 */
export class PublishError extends Error {
  constructor(
    readonly reason: PublishFailure,
    message: string,
  ) {
    super(message);
  }
}

interface Waiting {
  resolve(stored: Stored): void;
  reject(error: PublishError): void;
  expiresAtMs: number;
}

/**
 * Publishes to JetStream with one inbox for all acknowledgements and many messages in flight: five times the rate of the
 * client's publish, which sends a request each.
 */
export class DurablePublisher {
  private readonly inbox: string;
  private readonly waiting = new Map<string, Waiting>();
  private readonly queue: (() => void)[] = [];
  private readonly idle: (() => void)[] = [];
  private readonly acks: Subscription;
  private readonly outgoing = new EndOfTurn();
  private timer: NodeJS.Timeout | undefined;
  private sequence = 0;
  private isClosed = false;

  constructor(
    private readonly connection: NatsConnection,
    private readonly timeoutMs = 2_000,
    /** Maximum unconfirmed messages; further publishes are queued. */
    private readonly maxInFlight = 8_192,
    /** Inbox prefix of the connection, when its user may not subscribe to others. */
    inboxPrefix?: string,
  ) {
    this.inbox = createInbox(inboxPrefix);
    this.acks = connection.subscribe(`${this.inbox}.*`, {
      callback: (error, message) => !error && this.settle(message),
    });
  }

  get inFlight(): number {
    return this.waiting.size;
  }

  /** @throws PublishError when storage is not confirmed within the time-out, which starts when the message is sent */
  async publish(subject: string, bytes: Uint8Array, headers?: MsgHdrs): Promise<Stored> {
    while (!this.isClosed && this.waiting.size >= this.maxInFlight) {
      await new Promise<void>((resume) => this.queue.push(resume));
    }
    if (this.isClosed || this.connection.isClosed()) throw new PublishError('closed', 'the bus is closed');
    const token = String((this.sequence += 1));
    return new Promise<Stored>((resolve, reject) => {
      this.waiting.set(token, { resolve, reject, expiresAtMs: Date.now() + this.timeoutMs });
      this.timer ??= setTimeout(() => this.expire(), this.timeoutMs);
      this.outgoing.add(() => {
        try {
          this.connection.publish(subject, bytes, { reply: `${this.inbox}.${token}`, ...(headers && { headers }) });
        } catch (error) {
          this.take(token);
          reject(new PublishError('closed', error instanceof Error ? error.message : 'the message could not be sent'));
        }
      });
    });
  }

  /** Resolves when all previous publishes are confirmed or rejected, or the publisher is closed. */
  async settled(): Promise<void> {
    if (this.waiting.size > 0) await new Promise<void>((resume) => this.idle.push(resume));
  }

  /** Rejects unconfirmed publishes. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    for (const { reject } of this.waiting.values())
      reject(new PublishError('closed', 'the bus closed before the answer'));
    this.waiting.clear();
    for (const resume of [...this.queue.splice(0), ...this.idle.splice(0)]) resume();
    this.acks.unsubscribe();
  }

  private take(token: string): Waiting | undefined {
    const waiting = this.waiting.get(token);
    this.waiting.delete(token);
    this.queue.shift()?.();
    if (this.waiting.size === 0) for (const resume of this.idle.splice(0)) resume();
    return waiting;
  }

  private settle(message: Msg): void {
    const waiting = this.take(message.subject.slice(this.inbox.length + 1));
    if (!waiting) return;
    const outcome = readAcknowledgement(message);
    if (outcome instanceof PublishError) waiting.reject(outcome);
    else waiting.resolve(outcome);
  }

  /** All have the same timeout, so the map is in the order of expiry. */
  private expire(): void {
    const nowMs = Date.now();
    this.timer = undefined;
    for (const [token, { reject, expiresAtMs }] of this.waiting) {
      if (expiresAtMs > nowMs) {
        this.timer = setTimeout(() => this.expire(), expiresAtMs - nowMs);
        return;
      }
      this.take(token);
      reject(new PublishError('timeout', `not confirmed within ${this.timeoutMs} ms`));
    }
  }
}

interface Acknowledgement {
  stream?: string;
  seq?: number;
  duplicate?: boolean;
  error?: { description?: string };
}

function readAcknowledgement(message: Msg): Stored | PublishError {
  if (message.headers?.code === 503) return new PublishError('no_stream', 'no stream keeps this subject');
  const { stream, seq, duplicate = false, error } = message.json<Acknowledgement>();
  if (!stream || !seq) return new PublishError('refused', error?.description ?? 'JetStream refused the message');
  return { stream, seq, duplicate };
}
