import type { ConsumerSpec } from '@svc/contract';
import type { Consumer, ConsumerMessages, JsMsg } from 'nats';
import { isForbidden, type Link } from './link';

const pullMs = 30_000;
const restartDelayMs = 1_000;

export interface SourceHooks {
  /** Resolves when a slot is free. */
  whenFree(): Promise<void>;
  /** Number of free slots. */
  room(): number;
  /** Processes a message; the next is taken at once, or when the returned promise resolves. */
  offer(message: JsMsg): Promise<void> | void;
  onError(error: unknown, where: string): void;
  /** Called once instead of pulling when the worker's NATS user may not create the durable consumer. */
  onForbidden?(): void;
}

/**
 * Pulls the messages of a subject, limited by free slots, so that idle workers get what busy ones do not pull.
 */
export class SubjectSource {
  /** Resolves when the consumer exists, from when on no message is missed, or when stopped. */
  readonly ready: Promise<void>;
  private readonly finished: Promise<void>;
  private announceReady: () => void = () => undefined;
  private messages: ConsumerMessages | undefined;
  private isStopped = false;

  constructor(
    private readonly link: Link,
    private readonly spec: ConsumerSpec,
    private readonly hooks: SourceHooks,
  ) {
    this.ready = new Promise((resolve) => (this.announceReady = resolve));
    this.finished = this.pullUntilStopped().finally(() => this.announceReady());
  }

  /** A restarted server loses pull requests, so they are repeated immediately. */
  pullAgain(): void {
    this.messages?.stop();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.messages?.stop();
    await this.finished;
  }

  private get isOver(): boolean {
    return this.isStopped || this.link.connection.isClosed();
  }

  private async pullUntilStopped(): Promise<void> {
    let consumer: Consumer | undefined;
    while (!this.isOver) {
      try {
        consumer ??= await this.link.consumer(this.spec);
        this.announceReady();
        await this.hooks.whenFree();
        if (!this.isOver) await this.pull(consumer);
      } catch (error) {
        if (this.isOver) return;
        if (!consumer && this.hooks.onForbidden && isForbidden(error)) return this.hooks.onForbidden();
        consumer = undefined;
        this.hooks.onError(error, `pulling ${this.spec.subject}`);
        await new Promise((resume) => setTimeout(resume, restartDelayMs));
      }
    }
  }

  private async pull(consumer: Consumer): Promise<void> {
    this.messages = await consumer.fetch({ max_messages: Math.max(1, this.hooks.room()), expires: pullMs });
    if (this.isStopped) this.messages.stop();
    for await (const message of this.messages) {
      const accepted = this.hooks.offer(message);
      if (accepted) await accepted;
    }
  }
}
