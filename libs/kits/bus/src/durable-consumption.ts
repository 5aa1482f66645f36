import { maxDeliver, type ConsumerSpec } from '@svc/contract';
import { EndOfTurn } from '@svc/jetstream';
import { Events, type ConsumerMessages, type JsMsg, type NatsConnection } from 'nats';
import { readOrigin, redeliveryDelayMs, type Delivery, type Outcome } from './delivery';
import { Slots } from './slots';
import { ensureConsumer, type ConsumerSettings } from './streams';
import { parseTrace } from './trace';

export interface ConsumptionOptions extends ConsumerSettings {
  /** Maximum concurrent messages. */
  concurrency: number;
  /** Maximum deliveries of a message; default 100. */
  maxDeliveries?: number | undefined;
  /**
   * Called before a message over its delivery limit is terminated, to write its dead letter. When it throws, the message
   * is redelivered after 5 s.
   */
  onExhausted?: ((delivery: Delivery) => Promise<void>) | undefined;
  /** Called for failures of the handler or the server. */
  onError(error: unknown, spec: ConsumerSpec): void;
}

const failedWriteDelayMs = 5_000;
const restartDelayMs = 500;

/**
 * Pulls the messages of a durable consumer, processes them concurrently, and acknowledges each by the outcome of its
 * handler. While a handler runs, progress acknowledgements prevent redelivery. Delivery is at least once; handlers are
 * idempotent by recorded state.
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

  /** Stops pulling, and resolves when started messages are acknowledged. Fetched but unstarted ones are redelivered. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.messages?.stop();
    await this.finished;
  }

  private async pullUntilStopped(): Promise<void> {
    // A third of the wait, so that two of these may be lost.
    const keepAlive = setInterval(
      () => this.running.forEach((message) => message.working()),
      this.options.ackWaitMs / 3,
    );
    // Otherwise the client would keep checking heartbeats of a closed connection.
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
   * A restarted server loses pull requests. The client repeats them, but after a failure it waits half a minute and ignores
   * further reconnects, which would delay delivery for as long. Fetched messages are still processed.
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
    // A deleted consumer ends the iteration, and the next round creates it again.
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
    // Over the limit the handler is not called again, because it may be what crashes the process.
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
  const trace = parseTrace(message.headers);
  return {
    ...readOrigin(message.subject),
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
      // Without the reason, because servers before 2.10 ignore a termination with one.
      return message.term();
  }
}
