import {
  decodePacket,
  encodePacket,
  jobCancelPacket,
  jobRequestPacket,
  messageIdHeader,
  readDispatch,
  streams,
  subjects,
  workerJobsSubject,
  type DispatchIdentity,
  type JobRequest,
  type JobRequestDraft,
  type Packet,
  type PayloadKind,
  type TypedPacket,
} from '@svc/contract';
import { parseServerList } from '@svc/jetstream';
import Redis from 'ioredis';
import { randomUUID } from 'node:crypto';
import { connect, headers, type JetStreamManager, type NatsConnection } from 'nats';
import { parseReceipt, type Receipt } from './receipt';

const inputTtlSec = 3_600;
/** Replies of consumers of streams, which are ordinary messages of their connections. */
const receiptSubjects = '$JS.ACK.>';
export const tenant = 'conformance';

interface Arrival {
  /** Of `performance.now()`. */
  atMs: number;
  /** Size of the packet. */
  bytes: number;
}
/** A packet of one kind, as it arrived. */
export type Received<K extends PayloadKind> = TypedPacket<K> & Arrival;

/** A dispatch as it was published. */
export interface Sent {
  request: JobRequest;
  dispatch: DispatchIdentity;
  traceId: string;
  /** Position in the stream. */
  seq: number;
}

export interface DispatchOptions {
  topic: string;
  /** Stored behind `context_ptr`. */
  input?: { prompt: string; context?: object };
  jobId?: string;
  attempt?: number;
  /** Fields that replace the usual ones. */
  draft?: Partial<JobRequestDraft>;
}

/** Takes the part of the platform on a bus: dispatches jobs, cancels them, and records the packets of workers. */
export class Platform {
  readonly received: (Packet & Arrival)[] = [];
  /** What workers replied to messages of the stream of jobs, in the order of arrival. */
  readonly receipts: (Receipt & { atMs: number })[] = [];
  /** Set when the NATS user may not subscribe to receipts. */
  receiptsHidden = false;
  private readonly waiting = new Set<() => void>();

  private constructor(
    private readonly connection: NatsConnection,
    private readonly manager: JetStreamManager,
    private readonly redis: Redis,
  ) {}

  static async open(natsUrl: string, redisUrl: string): Promise<Platform> {
    const { servers, credentials } = parseServerList(natsUrl);
    const connection = await connect({ servers, ...credentials, name: 'conformance' });
    const redis = new Redis(redisUrl, { maxRetriesPerRequest: 2 });
    // A failed command reports the error.
    redis.on('error', () => undefined);
    const manager = await connection.jetstreamManager();
    for (const { name, subjects: names } of Object.values(streams)) {
      const isMissing = await manager.streams.info(name).then(
        () => false,
        () => true,
      );
      if (isMissing) await manager.streams.add({ name, subjects: [...names] });
    }
    const platform = new Platform(connection, manager, redis);
    for (const subject of [subjects.heartbeat, subjects.handshake, subjects.jobResult, subjects.jobProgress]) {
      connection.subscribe(subject.name, { callback: (error, { data }) => error ?? platform.receive(data) });
    }
    connection.subscribe(receiptSubjects, {
      callback: (error, { subject, data }) => platform.receipt(error, subject, data),
    });
    await connection.flush();
    return platform;
  }

  async close(): Promise<void> {
    await this.connection.close();
    this.redis.disconnect();
  }

  /** Packets of one kind from one worker, in the order of arrival. */
  from<K extends PayloadKind>(kind: K, workerId: string): Received<K>[] {
    return this.received.flatMap((packet) =>
      hasKind(kind, packet) && [packet.sender_id, namedWorker(packet)].includes(workerId) ? [packet] : [],
    );
  }

  /** Results of one dispatch, and of one that names none. */
  results({ request, dispatch }: Sent): Received<'job_result'>[] {
    const named = ['', dispatch.dispatch_id];
    return this.received.flatMap((packet) =>
      hasKind('job_result', packet) &&
      packet.body.job_id === request.job_id &&
      named.includes(packet.body.dispatch?.dispatch_id ?? '')
        ? [packet]
        : [],
    );
  }

  /** The first acknowledgement of a dispatch, which ends its deliveries. */
  acknowledgement({ seq }: Sent): { atMs: number } | undefined {
    return this.receipts.find((receipt) => receipt.streamSeq === seq && receipt.isFinal);
  }

  /** The first value that `find` returns, now or after a further packet; undefined when the time is over. */
  async until<T>(find: () => T | undefined, withinMs: number): Promise<T | undefined> {
    const found = find();
    if (found !== undefined) return found;
    return new Promise((resolve) => {
      const end = (value: T | undefined) => {
        clearTimeout(timer);
        this.waiting.delete(look);
        resolve(value);
      };
      const look = () => {
        const value = find();
        if (value !== undefined) end(value);
      };
      const timer = setTimeout(() => end(undefined), withinMs);
      this.waiting.add(look);
    });
  }

  /** Stores the input and dispatches the job to the worker. */
  async dispatch(workerId: string, options: DispatchOptions): Promise<Sent> {
    const { topic, input = { prompt: 'conformance' }, jobId = randomUUID(), attempt = 1, draft = {} } = options;
    await this.redis.set(`ctx:${jobId}`, JSON.stringify({ ...input, topic, tenant_id: tenant }), 'EX', inputTtlSec);
    const dispatch = { dispatch_id: randomUUID(), attempt, assigned_worker_id: workerId };
    const { body, ...head } = jobRequestPacket(this.head(), {
      job_id: jobId,
      topic,
      context_ptr: `redis://ctx:${jobId}`,
      tenant_id: tenant,
      principal_id: 'conformance',
      identity: { tenant_id: tenant, principal_id: 'conformance' },
      env: { tenant_id: tenant, SVC_DISPATCH_ID: dispatch.dispatch_id, SVC_ATTEMPT: String(attempt) },
      dispatch,
      ...draft,
    });
    const sent = { request: body, dispatch: readDispatch(body), traceId: head.trace_id, seq: 0 };
    return { ...sent, seq: await this.send(workerId, sent) };
  }

  /** Delivers a dispatch once more, under another message id. */
  async repeat(workerId: string, sent: Sent): Promise<void> {
    await this.send(workerId, sent);
  }

  cancel(jobId: string, dispatch: DispatchIdentity, graceSec: number): void {
    const draft = { job_id: jobId, reason: 'conformance', requested_by: 'conformance', grace_sec: graceSec, dispatch };
    this.connection.publish(subjects.jobCancel.name, encodePacket(jobCancelPacket(this.head(), draft)));
  }

  /** Publishes bytes on the worker's own subject and on that of cancels. */
  async sendRaw(workerId: string, bytes: Uint8Array): Promise<void> {
    await this.connection.jetstream().publish(workerJobsSubject(workerId), bytes);
    this.connection.publish(subjects.jobCancel.name, bytes);
  }

  /** Whether the worker's own subject has a consumer; false when the worker subscribes with core NATS. */
  async hasConsumer(workerId: string): Promise<boolean> {
    for await (const info of this.manager.consumers.list(streams.jobs.name)) {
      if (info.config.filter_subject === workerJobsSubject(workerId)) return true;
    }
    return false;
  }

  readBody = (pointer: string): Promise<Buffer | null> => this.redis.getBuffer(pointer.slice('redis://'.length));
  async writeBody(pointer: string, body: string): Promise<void> {
    await this.redis.set(pointer.slice('redis://'.length), body, 'EX', inputTtlSec);
  }

  private head = () => ({ trace_id: randomUUID(), sender_id: 'scheduler', nowUs: Date.now() * 1_000 });

  private async send(workerId: string, { request, traceId }: Omit<Sent, 'seq'>): Promise<number> {
    const packet = jobRequestPacket({ ...this.head(), trace_id: traceId }, request);
    const extra = headers();
    extra.set(messageIdHeader, randomUUID());
    const stored = await this.connection
      .jetstream()
      .publish(workerJobsSubject(workerId), encodePacket(packet), { headers: extra });
    return stored.seq;
  }

  private receive(data: Uint8Array): void {
    const decoded = decodePacket(data);
    if (decoded.kind !== 'ok') return;
    this.received.push({ ...decoded.packet, atMs: performance.now(), bytes: data.length });
    this.look();
  }

  private receipt(error: Error | null, subject: string, data: Uint8Array): void {
    if (error) this.receiptsHidden = true;
    const receipt = error ? undefined : parseReceipt(subject, Buffer.from(data).toString());
    if (receipt?.stream !== streams.jobs.name) return;
    this.receipts.push({ ...receipt, atMs: performance.now() });
    this.look();
  }

  private look(): void {
    for (const look of [...this.waiting]) look();
  }
}

const hasKind = <K extends PayloadKind>(kind: K, packet: Packet & Arrival): packet is Packet & Received<K> =>
  packet.kind === kind;

function namedWorker(packet: Packet): string | undefined {
  if (packet.kind === 'heartbeat' || packet.kind === 'job_result') return packet.body.worker_id;
  return packet.kind === 'handshake' ? packet.body.component_id : undefined;
}
