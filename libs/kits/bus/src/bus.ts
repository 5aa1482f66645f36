import {
  decodePacket,
  durableName,
  encodePacket,
  messageId,
  messageIdHeader,
  sentBySubject,
  subjects,
  subjectsFromWorkers,
  workerCancelSubject,
  workerIdPattern,
  type ConsumerSpec,
  type EncodedPacket,
  type Packet,
  type PayloadKind,
} from '@svc/contract';
import { connect, Events, type Msg, type NatsConnection } from 'nats';
import { CoreSubscription } from './core-subscription';
import { readOrigin, type Delivery, type Outcome } from './delivery';
import { DurableConsumption, type ConsumptionOptions } from './durable-consumption';
import { DurablePublisher, type Stored } from '@svc/jetstream';
import { connectionOptions, type BusOptions } from './options';
import { packetHandler, type PacketDelivery } from './packet-handler';
import { RefusalReports, wrongSender, type RefusedPacket } from './refusals';
import {
  deleteMessage,
  deleteWorkerConsumers,
  ensureStreams,
  ensureWorkerConsumers,
  isCaughtUp,
  storedMessages,
} from './streams';
import { messageHeaders, type Trace } from './trace';

/** Callbacks of the bus. */
export interface BusDeps {
  nowUs(): number;
  /** Called for rejected packets. */
  onMalformed?(packet: RefusedPacket): void;
  /** Called when the connection is lost or restored. */
  onConnection?(event: 'disconnected' | 'reconnected'): void;
  /** Called for background failures. */
  onError?(error: unknown, where: string): void;
}

export interface ConsumeOptions {
  /** Maximum concurrent messages; default 256. */
  concurrency?: number;
  maxDeliveries?: number;
  ackWaitMs?: number;
  onExhausted?: ConsumptionOptions['onExhausted'];
}

export interface BusStatus {
  isConnected: boolean;
  jetstream: boolean;
  server: string;
  reconnects: number;
  /** Messages not yet confirmed by JetStream. */
  unconfirmed: number;
  /** Messages being processed by durable handlers. */
  inFlight: number;
}

/** A running subscription or consumer. */
export interface Consumption {
  readonly inFlight: number;
  /** Stops accepting messages, and resolves when started ones are processed. */
  stop(): Promise<void>;
}

/**
 * Connects to NATS and keeps the connection. The first connection tries each server once.
 *
 * @throws Error when no server accepts the connection, or for invalid options, such as a missing
 *   certificate
 */
export async function openBus(options: BusOptions, deps: BusDeps): Promise<Bus> {
  return new Bus(await connect(connectionOptions(options)), options, deps);
}

/** Publishes and consumes packets, with the delivery guarantees of JetStream where it is enabled. */
export class Bus {
  private readonly publisher: DurablePublisher;
  private readonly refusals: RefusalReports;
  private readonly consumptions = new Set<Consumption>();
  private reconnects = 0;
  private isConnected = true;

  constructor(
    private readonly connection: NatsConnection,
    private readonly options: BusOptions,
    private readonly deps: BusDeps,
  ) {
    this.publisher = new DurablePublisher(connection);
    this.refusals = new RefusalReports(
      options.senderId,
      deps.nowUs,
      (subject, bytes) => this.publishBytes(subject, bytes),
      (packet) => deps.onMalformed?.(packet),
    );
    void this.watchConnection();
  }

  /** Creates or updates the streams; no-op without JetStream. */
  async ensureStreams(): Promise<void> {
    if (this.options.jetstream) await ensureStreams(await this.connection.jetstreamManager(), this.options);
  }

  /**
   * Whether a durable consumer has acknowledged every message in its stream at the time of the call. Always true without
   * JetStream.
   *
   * @param withinMs timeout
   */
  async isCaughtUp(spec: ConsumerSpec, withinMs: number): Promise<boolean> {
    if (!this.options.jetstream) return true;
    const manager = await this.connection.jetstreamManager();
    const all = await Promise.all(withSentByWorkers(spec).map((one) => isCaughtUp(manager, one, withinMs)));
    return all.every(Boolean);
  }

  /** Deletes a stored message, so that it is not delivered (again). No-op when it is gone. */
  async withdraw({ stream, seq }: Pick<Stored, 'stream' | 'seq'>): Promise<void> {
    if (this.options.jetstream && stream) await deleteMessage(await this.connection.jetstreamManager(), stream, seq);
  }

  /** Creates the consumers of workers that have none; no-op without JetStream. */
  async ensureWorkerConsumers(workerIds: readonly string[]): Promise<void> {
    if (this.options.jetstream) await ensureWorkerConsumers(await this.connection.jetstreamManager(), workerIds);
  }

  /** Deletes the consumers of workers that may not connect any more; no-op without JetStream. */
  async deleteWorkerConsumers(workerIds: readonly string[]): Promise<void> {
    if (this.options.jetstream) await deleteWorkerConsumers(await this.connection.jetstreamManager(), workerIds);
  }

  /** Number of messages in our streams; 0 without JetStream. */
  async storedMessages(): Promise<number> {
    return this.options.jetstream ? storedMessages(await this.connection.jetstreamManager()) : 0;
  }

  /** Publishes on core NATS: at most once, without confirmation. */
  publish(subject: string, packet: Packet, trace?: Trace): void {
    const bytes = this.seal(encodePacket(packet));
    this.publishBytes(subject, bytes, trace);
    // Workers with a connection of their own receive only cancels of their dispatches.
    const worker = packet.kind === 'job_cancel' ? packet.body.dispatch?.assigned_worker_id : undefined;
    if (worker && workerIdPattern.test(worker)) this.publishBytes(workerCancelSubject(worker), bytes, trace);
  }

  publishBytes(subject: string, bytes: Uint8Array, trace?: Trace): void {
    const headers = messageHeaders(trace);
    this.connection.publish(subject, bytes, { ...(headers && { headers }) });
    // Readers that must not believe a worker's claim to be a service read this copy.
    if (subject === subjects.alert.name) this.connection.publish(subjects.serviceAlert.name, bytes);
  }

  /**
   * Stores a packet in its stream. The message id is that of `messageId` unless given; publishing again with
   * the same id is deduplicated. Without JetStream it is sent on core NATS.
   *
   * @throws PublishError when storage is not confirmed within 2 s
   */
  publishDurable(
    subject: string,
    packet: Packet | EncodedPacket,
    { msgId = packet.kind === 'encoded' ? packet.messageId : messageId(subject, packet), trace }: DurableOptions = {},
  ): Promise<Stored> {
    const bytes = packet.kind === 'encoded' ? packet.bytes : encodePacket(packet);
    return this.publishDurableBytes(subject, this.seal(bytes), {
      ...(msgId && { msgId }),
      ...(trace && { trace }),
    });
  }

  async publishDurableBytes(
    subject: string,
    bytes: Uint8Array,
    { msgId, trace }: DurableOptions = {},
  ): Promise<Stored> {
    if (!this.options.jetstream) {
      this.publishBytes(subject, bytes, trace);
      await this.connection.flush();
      return { stream: '', seq: 0, duplicate: false };
    }
    return this.publisher.publish(subject, bytes, messageHeaders(trace, msgId ? { [messageIdHeader]: msgId } : {}));
  }

  /** Processes the packets of a durable consumer, which is created if missing. */
  consume<K extends PayloadKind>(
    spec: ConsumerSpec<K>,
    handler: (delivery: PacketDelivery<K>) => Promise<Outcome>,
    options: ConsumeOptions = {},
  ): Consumption {
    const report = this.refusals.report.bind(this.refusals);
    return this.consumeBytes(spec, packetHandler(spec.payload, handler, report), options);
  }

  /** The same for messages that are not packets. */
  consumeBytes(
    spec: ConsumerSpec,
    handler: (delivery: Delivery) => Promise<Outcome>,
    options: ConsumeOptions = {},
  ): Consumption {
    const { concurrency = 256, ackWaitMs = this.options.ackWaitMs, ...rest } = options;
    const onError = (error: unknown) => this.deps.onError?.(error, spec.durable);
    const { maxAckPending } = this.options;
    const settings = { concurrency, ackWaitMs, maxAckPending, onError, ...rest };
    return this.keep(
      ...withSentByWorkers(spec).map((one) =>
        this.options.jetstream
          ? new DurableConsumption(this.connection, one, handler, settings)
          : new CoreSubscription(this.connection, one.subject, handler, { group: one.group, onError }),
      ),
    );
  }

  /**
   * Subscribes to a subject on core NATS: all packets, or this queue group's share.
   *
   * @param options.isReportedElsewhere another service reports the packets of this subject that are refused
   */
  subscribe<K extends PayloadKind>(
    { name, payload }: { name: string; payload: K },
    handler: (delivery: PacketDelivery<K>) => Promise<void> | void,
    { group, isReportedElsewhere = false }: { group?: string; isReportedElsewhere?: boolean } = {},
  ): Consumption {
    const report = isReportedElsewhere ? () => undefined : this.refusals.report.bind(this.refusals);
    const handled = packetHandler(payload, async (delivery) => (await handler(delivery), { kind: 'ack' }), report);
    return this.tap(name, handled, { ...(group && { group }) });
  }

  /** Subscribes to all messages of a subject or pattern, undecoded. */
  tap(pattern: string, handler: (delivery: Delivery) => unknown, { group }: { group?: string } = {}): Consumption {
    const onError = (error: unknown) => this.deps.onError?.(error, pattern);
    const options = { ...(group && { group }), onError };
    return this.keep(
      ...allSubjects(pattern).map((subject) => new CoreSubscription(this.connection, subject, handler, options)),
    );
  }

  /**
   * Answers requests on a subject; the processes of a group share them. A handler that returns nothing leaves the request
   * without an answer.
   */
  respond(
    subject: string,
    group: string,
    handler: (bytes: Uint8Array) => Promise<Uint8Array | undefined>,
  ): Consumption {
    const onError = (error: unknown) => this.deps.onError?.(error, subject);
    const running = new Set<Promise<void>>();
    const callback = (error: Error | null, message: Msg) => {
      if (error) return onError(error);
      if (this.isOfAnotherWorker(message)) return;
      const work = handler(message.data)
        .then((reply) => void (reply && message.respond(reply)))
        .catch(onError)
        .finally(() => running.delete(work));
      running.add(work);
    };
    const subscriptions = allSubjects(subject).map((one) => this.connection.subscribe(one, { queue: group, callback }));
    return this.keep({
      get inFlight() {
        return running.size;
      },
      stop: async () => {
        for (const subscription of subscriptions) subscription.unsubscribe();
        await Promise.all(running);
      },
    });
  }

  /** Resolves when the server has processed all previous publishes and subscriptions. */
  flush(): Promise<void> {
    return this.connection.flush();
  }

  /** For probes. */
  status(): BusStatus {
    return {
      isConnected: this.isConnected && !this.connection.isClosed(),
      jetstream: this.options.jetstream,
      server: this.connection.getServer(),
      reconnects: this.reconnects,
      unconfirmed: this.publisher.inFlight,
      inFlight: [...this.consumptions].reduce((sum, { inFlight }) => sum + inFlight, 0),
    };
  }

  /** Finishes started messages, flushes buffers, and closes. */
  async drain(): Promise<void> {
    await Promise.all([...this.consumptions].map((consumption) => consumption.stop()));
    await this.publisher.settled();
    this.publisher.close();
    if (!this.connection.isClosed()) await this.connection.drain();
  }

  /** Closes immediately, like a crash: nothing is finished or acknowledged. */
  async abandon(): Promise<void> {
    this.publisher.close();
    await this.connection.close();
  }

  /** Reports a request in the name of another worker than the one whose connection sent it. */
  private isOfAnotherWorker(message: Msg): boolean {
    const origin = readOrigin(message.subject);
    const decoded = origin.connection === undefined ? undefined : decodePacket(message.data);
    if (!origin.connection || decoded?.kind !== 'ok' || decoded.packet.sender_id === origin.connection) return false;
    const delivery = { ...origin, bytes: message.data, deliveries: 1 };
    this.refusals.report(delivery, wrongSender(origin.connection, decoded.packet));
    return true;
  }

  private seal(bytes: Uint8Array): Uint8Array {
    return this.options.signer?.seal(bytes) ?? bytes;
  }

  private keep(...consumptions: Consumption[]): Consumption {
    const kept = {
      get inFlight() {
        return consumptions.reduce((sum, { inFlight }) => sum + inFlight, 0);
      },
      stop: async () => {
        await Promise.all(consumptions.map((consumption) => consumption.stop()));
        this.consumptions.delete(kept);
      },
    };
    this.consumptions.add(kept);
    return kept;
  }

  private async watchConnection(): Promise<void> {
    for await (const { type } of this.connection.status()) {
      if (type === Events.Disconnect) {
        this.isConnected = false;
        this.deps.onConnection?.('disconnected');
      } else if (type === Events.Reconnect) {
        this.isConnected = true;
        this.reconnects += 1;
        this.deps.onConnection?.('reconnected');
      }
    }
  }
}

/** A subject, and under which the services receive it from workers with a credential. */
const allSubjects = (subject: string): string[] =>
  subjectsFromWorkers.includes(subject) ? [subject, sentBySubject('*', subject)] : [subject];

/** A consumer has one filter in servers before 2.10, so each subject has its own. */
const withSentByWorkers = (spec: ConsumerSpec): ConsumerSpec[] =>
  allSubjects(spec.subject).map((subject) =>
    subject === spec.subject ? spec : { ...spec, subject, durable: durableName(spec.group, subject) },
  );

export interface DurableOptions {
  msgId?: string;
  trace?: Trace;
}
