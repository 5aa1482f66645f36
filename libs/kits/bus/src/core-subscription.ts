import type { Msg, NatsConnection, Subscription } from 'nats';
import { readOrigin, type Delivery } from './delivery';
import { parseTrace } from './trace';

/**
 * A core NATS subscription with the handler of a durable consumer. Ignores the handler's result, because core NATS has no
 * redelivery.
 */
export class CoreSubscription {
  private readonly subscription: Subscription;
  private readonly running = new Set<Promise<unknown>>();

  constructor(
    connection: NatsConnection,
    subject: string,
    private readonly handler: (delivery: Delivery) => unknown,
    { group, onError }: { group?: string; onError(error: unknown): void },
  ) {
    this.subscription = connection.subscribe(subject, {
      ...(group && { queue: group }),
      callback: (error, message) => {
        if (error) return onError(error);
        const work = this.handle(message).catch(onError);
        this.running.add(work);
        void work.finally(() => this.running.delete(work));
      },
    });
  }

  get inFlight(): number {
    return this.running.size;
  }

  async stop(): Promise<void> {
    this.subscription.unsubscribe();
    await Promise.all(this.running);
  }

  private async handle({ subject, data, headers }: Msg): Promise<void> {
    const trace = parseTrace(headers);
    await this.handler({ ...readOrigin(subject), bytes: data, deliveries: 1, ...(trace && { trace }) });
  }
}
