import {
  encodePacket,
  messageIdHeader,
  topicConsumer,
  workerConsumer,
  type ConsumerSpec,
  type NewPacketHead,
  type Packet,
} from '@svc/contract';
import {
  AckPolicy,
  connect,
  DeliverPolicy,
  ErrorCode,
  headers,
  NatsError,
  type Consumer,
  type MsgHdrs,
  type NatsConnection,
} from 'nats';
import { DurablePublisher, parseServerList, PublishError } from '@svc/jetstream';
import type { WorkerSettings } from './options';
import { PacketTrust } from './packet-trust';
import { SessionKeeper } from './session';

const nanos = (ms: number) => ms * 1e6;
const storeTimeoutMs = 2_000;
const keepIdleConsumerMs = 7 * 86_400_000;

/** Whether the NATS user of the worker may not send a request. */
export const isForbidden = (error: unknown): boolean =>
  error instanceof NatsError && error.code === ErrorCode.PermissionsViolation;

export type TraceHeaders = Readonly<Record<string, string>>;

const noTrace: TraceHeaders = {};

/** W3C trace context of a message. */
export function traceHeaders(from: MsgHdrs | undefined): TraceHeaders {
  const traceparent = from?.get('traceparent');
  const tracestate = from?.get('tracestate');
  if (!traceparent && !tracestate) return noTrace;
  return { ...(traceparent && { traceparent }), ...(tracestate && { tracestate }) };
}

/** A message for a stream, encoded. */
export interface DurableMessage {
  subject: string;
  /** Deduplicates repeated publishes. */
  messageId: string;
  bytes: Uint8Array;
  trace: TraceHeaders;
}

/** NATS connection of the worker: publishes and consumers. */
export class Link {
  private readonly publisher: DurablePublisher;
  private readonly own: ConsumerSpec;
  readonly trust: PacketTrust;
  /** Undefined: the worker or the services cannot prove who they are. */
  readonly session: SessionKeeper | undefined;

  private constructor(
    readonly connection: NatsConnection,
    private readonly settings: WorkerSettings,
  ) {
    this.own = workerConsumer(settings.id);
    const { id, handshakeDomainPrefix: domainPrefix, capabilities, onError } = settings;
    this.trust = new PacketTrust(settings);
    const deps = { id, domainPrefix, capabilities, connection, trust: this.trust, onError };
    this.session = this.trust.provesBoth && settings.sessions ? new SessionKeeper(deps) : undefined;
    this.publisher = new DurablePublisher(connection, storeTimeoutMs, undefined, settings.nats?.inboxPrefix);
  }

  static async open(settings: WorkerSettings): Promise<Link> {
    const { servers, credentials } = parseServerList(settings.natsUrl);
    const hasOwnCredentials = settings.nats?.user ?? settings.nats?.token ?? settings.nats?.authenticator;
    // A server that needs no credentials ignores these.
    const ofToken = settings.authToken ? { user: settings.id, pass: settings.authToken } : {};
    const connection = await connect({
      servers,
      name: settings.id,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 2_000,
      pingInterval: 30_000,
      waitOnFirstConnect: true,
      ignoreAuthErrorAbort: true,
      ...(hasOwnCredentials ? {} : (credentials ?? ofToken)),
      ...settings.nats,
    });
    return new Link(connection, settings);
  }

  /** Flushes and closes. No publish may be pending. */
  async close(): Promise<void> {
    if (this.connection.isClosed()) return;
    this.session?.stop();
    this.publisher.close();
    await this.connection.drain();
  }

  head(traceId: string): NewPacketHead {
    const { id, authToken } = this.settings;
    const auth_token = this.session?.token || authToken;
    return { trace_id: traceId, sender_id: id, nowUs: Date.now() * 1_000, auth_token };
  }

  /** Publishes on core NATS, without confirmation. */
  send(subject: string, packet: Packet): void {
    if (!this.connection.isClosed()) this.connection.publish(subject, this.trust.seal(encodePacket(packet)));
  }

  /** Stores the message in its stream; publishes on core NATS when no stream has the subject. */
  async store({ subject, messageId, bytes, trace }: DurableMessage): Promise<void> {
    const extra = headers();
    for (const name in trace) extra.append(name, trace[name] ?? '');
    extra.append(messageIdHeader, messageId);
    try {
      if (this.settings.jetstream) {
        await this.publisher.publish(subject, bytes, extra);
        return;
      }
    } catch (error) {
      if (!(error instanceof PublishError) || error.reason !== 'no_stream') throw error;
    }
    this.connection.publish(subject, bytes, { headers: extra });
    await this.connection.flush();
  }

  /** The consumer of the worker's own subject. */
  ownConsumer(): ConsumerSpec {
    return this.own;
  }

  topicConsumer(topic: string): ConsumerSpec {
    return topicConsumer(topic, this.settings.queueGroup ?? topic);
  }

  /**
   * Creates the durable consumer if it is missing. A new one starts with new messages, because earlier ones were sent to
   * other workers. The consumer of a worker that connects with its credential is created by the services.
   */
  async consumer({ stream, durable, subject }: ConsumerSpec): Promise<Consumer> {
    const manager = await this.connection.jetstreamManager();
    try {
      await manager.consumers.add(stream, {
        durable_name: durable,
        filter_subject: subject,
        ack_policy: AckPolicy.Explicit,
        deliver_policy: DeliverPolicy.New,
        ack_wait: nanos(this.settings.ackWaitMs),
        max_deliver: -1,
        inactive_threshold: nanos(keepIdleConsumerMs),
      });
    } catch (error) {
      if (!isForbidden(error) || durable !== this.own.durable) throw error;
    }
    return this.connection.jetstream().consumers.get(stream, durable);
  }
}
