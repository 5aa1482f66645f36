import { maxDeliver, type ConsumerSpec } from '@svc/contract';
import { EndOfTurn } from '@svc/jetstream';
import { Events, type ConsumerMessages, type JsMsg, type NatsConnection } from 'nats';
import { redeliveryDelayMs, type Delivery, type Outcome } from './delivery';
import { Slots } from './slots';
import { ensureConsumer, type ConsumerSettings } from './streams';
import { traceOf } from './trace';

export interface ConsumptionOptions extends ConsumerSettings {
  /** Messages handled at once. */
  concurrency: number;
  /** Deliveries after which a message is given up; 100 unless said otherwise. */
  maxDeliveries?: number | undefined;
  /**
   * Called before a message that used up its deliveries is terminated: write its dead letter here. When it throws, the
   * message comes again in 5 s.
   */
  onExhausted?: ((delivery: Delivery) => Promise<void>) | undefined;
  /** A handler, or the server, failed in a way that no outcome names. */
  onError(error: unknown, spec: ConsumerSpec): void;
}

const failedWriteDelayMs = 5_000;
const restartDelayMs = 500;

/**
 * Pulls the messages of one durable consumer, handles many at once, and acknowledges each according to what its handler
 * said. While a handler runs, the server is told so, and does not deliver its message again. Delivery is at least once:
 * there are no guard keys, since handlers are idempotent by recorded state.
 */
export class DurableConsumption {
  private readonly slots: Slots;
  private readonly running = new Set<JsMsg>();
  private readonly answers = new EndOfTurn();
  private readonly finished: Promise<void>;
  private messages: ConsumerMessages | undefined;
  private isStopped = false;

  constructor(
    private readonly connection: NatsConnection,
    private readonly spec: ConsumerSpec,
    private readonly handler: (delivery: Delivery) => Promise<Outcome>,
    private readonly options: ConsumptionOptions,
  ) {
    this.slots = new Slots(options.concurrency);
    this.finished = this.pullUntilStopped();
    void this.pullAgainWhenBack();
  }

  get inFlight(): number {
    return this.slots.inUse;
  }

  /** Pulls no more and resolves when what was begun is done and acknowledged. What was only fetched comes again. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.messages?.stop();
    await this.finished;
  }

  private async pullUntilStopped(): Promise<void> {
    // A third of the wait: two of these may get lost.
    const keepAlive = setInterval(
      () => this.running.forEach((message) => message.working()),
      this.options.ackWaitMs / 3,
    );
    // The client would go on looking for heartbeats of a connection that is gone.
    void this.connection.closed().then(() => (clearInterval(keepAlive), this.messages?.stop()));
    while (!this.isOver) {
      try {
        await this.pull();
      } catch (error) {
        if (this.isOver) break;
        this.options.onError(error, this.spec);
        await new Promise((resume) => setTimeout(resume, restartDelayMs));
      }
    }
    if (!this.connection.isClosed()) await this.slots.whenIdle();
    this.answers.flush();
    clearInterval(keepAlive);
  }

  /**
   * A restarted server has forgotten what was asked of it. The client asks again by itself, but when that fails it waits
   * for half a minute and hears of no further reconnection: what is to be handled would lie for as long. What it has
   * fetched is still handled.
   */
  private async pullAgainWhenBack(): Promise<void> {
    for await (const { type } of this.connection.status()) {
      if (this.isStopped) return;
      if (type === Events.Reconnect) this.messages?.stop();
    }
  }

  private get isOver(): boolean {
    return this.isStopped || this.connection.isClosed();
  }

  private async pull(): Promise<void> {
    const { stream, durable } = this.spec;
    const manager = await this.connection.jetstreamManager();
    await ensureConsumer(manager, this.spec, this.options);
    const consumer = await this.connection.jetstream().consumers.get(stream, durable);
    // A consumer that was deleted ends the iteration, and the next round makes it again.
    this.messages = await consumer.consume({ max_messages: this.options.concurrency, abort_on_missing_resource: true });
    if (this.isStopped) this.messages.stop();
    for await (const message of this.messages) {
      await this.slots.take();
      void this.handle(message);
    }
  }

  private async handle(message: JsMsg): Promise<void> {
    this.running.add(message);
    try {
      const outcome = await this.outcome(readDelivery(message));
      this.answers.add(() => this.settle(message, outcome));
    } catch (error) {
      this.options.onError(error, this.spec);
    } finally {
      this.running.delete(message);
      this.slots.free();
    }
  }

  private settle(message: JsMsg, outcome: Outcome): void {
    try {
      settle(message, outcome);
    } catch (error) {
      this.options.onError(error, this.spec);
    }
  }

  private async outcome(delivery: Delivery): Promise<Outcome> {
    const { maxDeliveries = maxDeliver } = this.options;
    // Beyond the limit the handler is not asked again: it may be what kills the process.
    if (delivery.deliveries > maxDeliveries) return this.exhausted(delivery);
    const outcome = await this.ask(delivery);
    return outcome.kind === 'nak' && delivery.deliveries >= maxDeliveries ? this.exhausted(delivery) : outcome;
  }

  private async ask(delivery: Delivery): Promise<Outcome> {
    try {
      return await this.handler(delivery);
    } catch (error) {
      this.options.onError(error, this.spec);
      return { kind: 'nak' };
    }
  }

  private async exhausted(delivery: Delivery): Promise<Outcome> {
    try {
      await this.options.onExhausted?.(delivery);
      return { kind: 'term', reason: 'deliveries used up' };
    } catch (error) {
      this.options.onError(error, this.spec);
      return { kind: 'nak', delayMs: failedWriteDelayMs };
    }
  }
}

function readDelivery(message: JsMsg): Delivery {
  const trace = traceOf(message.headers);
  return {
    subject: message.subject,
    bytes: message.data,
    deliveries: message.info.deliveryCount,
    streamSeq: message.seq,
    ...(trace && { trace }),
  };
}

function settle(message: JsMsg, outcome: Outcome): void {
  switch (outcome.kind) {
    case 'ack':
      return message.ack();
    case 'nak':
      return message.nak(outcome.delayMs ?? redeliveryDelayMs(message.info.deliveryCount));
    case 'term':
      // Without the reason, which servers before 2.10 take for no termination at all.
      return message.term();
  }
}
