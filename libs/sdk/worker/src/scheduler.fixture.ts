import {
  decodePacket,
  encodePacket,
  jobCancelPacket,
  jobRequestPacket,
  messageId,
  streams,
  workerJobsSubject,
  type JobCancelDraft,
  type JobRequestDraft,
  type Packet,
  type TypedPacket,
  type PayloadKind,
} from '@svc/contract';
import Redis from 'ioredis';
import { connect, headers } from 'nats';

type Eventually = <T>(check: () => T, patience: { withinMs: number }) => Promise<T>;

/** Simulates the platform: creates the streams, dispatches, and records all packets of workers. */
export async function openScheduler(
  natsUrl: string,
  redisUrl: string,
  eventually: Eventually,
  credentials: { user?: string; pass?: string } = {},
) {
  const connection = await connect({
    servers: natsUrl,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 50,
    ...credentials,
  });
  const redis = new Redis(redisUrl);
  const manager = await connection.jetstreamManager();
  for (const { name, subjects } of Object.values(streams)) await manager.streams.add({ name, subjects: [...subjects] });
  const received: { subject: string; packet: Packet; traceparent: string }[] = [];
  const listener = connection.subscribe('sys.>', {
    callback: (_, { subject, data, headers: sent }) => {
      const decoded = decodePacket(data);
      if (decoded.kind === 'ok')
        received.push({ subject, packet: decoded.packet, traceparent: sent?.get('traceparent') ?? '' });
    },
  });
  await connection.flush();
  const head = () => ({ trace_id: 'trace-1', sender_id: 'scheduler', nowUs: Date.now() * 1_000 });
  const of = <K extends PayloadKind>(kind: K): TypedPacket<K>['body'][] =>
    received.flatMap(({ packet }) => (isOf(kind, packet) ? [packet.body] : []));

  const signing: { seal(bytes: Uint8Array): Uint8Array } = { seal: (bytes) => bytes };

  return {
    /** How it signs its packets; by default not at all. */
    signing,
    received,
    redis,
    manager,
    of,
    head,
    /** Sends one dispatch to a worker, or to its topic. */
    async dispatch(
      draft: JobRequestDraft & { topic?: string },
      { to, again = '' }: { to?: string; again?: string } = {},
    ) {
      const request = {
        topic: 'job.demo.echo',
        tenant_id: 'acme',
        env: { SVC_DISPATCH_ID: 'd-1', SVC_ATTEMPT: '1' },
        ...draft,
      };
      const packet = jobRequestPacket(head(), request);
      const subject = to === undefined ? request.topic : workerJobsSubject(to);
      const trace = headers();
      trace.set('traceparent', 'tp-1');
      const msgID = `${messageId(subject, packet)}${again}`;
      await connection
        .jetstream()
        .publish(subject ?? '', signing.seal(encodePacket(packet)), { msgID, headers: trace });
    },
    publish: (subject: string, bytes: Uint8Array) => connection.publish(subject, bytes),
    cancel: (job_id: string, grace_sec = 0, dispatch?: JobCancelDraft['dispatch']) =>
      connection.publish(
        'sys.job.cancel',
        signing.seal(encodePacket(jobCancelPacket(head(), { job_id, reason: 'no more', grace_sec, dispatch }))),
      ),
    /** Resolves with the results of a job when there are this many. */
    results: (jobId: string, count = 1) =>
      eventually(
        () => {
          const results = of('job_result').filter(({ job_id }) => job_id === jobId);
          expect(results).toHaveLength(count);
          return results;
        },
        { withinMs: 15_000 },
      ),
    /** Unacknowledged and pending messages of a consumer. */
    async open(durable: string) {
      const { num_ack_pending, num_pending } = await manager.consumers.info('SVC_JOBS', durable);
      return num_ack_pending + num_pending;
    },
    async close() {
      listener.unsubscribe();
      await connection.close();
      redis.disconnect();
    },
  };
}

const isOf = <K extends PayloadKind>(kind: K, packet: Packet): packet is Packet & TypedPacket<K> =>
  packet.kind === kind;
