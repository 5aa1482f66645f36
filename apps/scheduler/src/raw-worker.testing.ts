import {
  decodePacket,
  encodePacket,
  handshakePacket,
  heartbeatPacket,
  jobProgressPacket,
  jobResultPacket,
  toJobStatus,
  rawPacket,
  subjects,
  wire,
  workerJobsSubject,
  type JobProgressDraft,
  type JobRequest,
  type JobResultDraft,
} from '@svc/contract';
import { eventually } from '@svc/testing';
import { connect } from 'nats';
import { openPacketSigner } from '@svc/jetstream';

export interface RawWorkerPlan {
  id: string;
  pool?: string;
  max?: number;
  capabilities?: string[];
  labels?: Record<string, string>;
  /** False simulates an older worker, which does not echo its dispatch. */
  echo?: boolean;
  /** Answers each job at once with this. */
  answers?: (request: JobRequest) => readonly [JobResponse, JobResultDraft?];
  /** Sender id of its packets; its own id by default. */
  sender?: string;
  /** Overrides the number of active jobs in its heartbeats. */
  counts?: () => number;
  /** Credential in its heartbeats. */
  token?: string;
  /** Credential in its other packets; that of its heartbeats by default. */
  packetToken?: string;
  /** P-256 key that signs its packets. */
  signingKey?: string;
  /** Sends no heartbeats. */
  silent?: boolean;
}

/** A status of the contract, or an unknown one. */
export type JobResponse =
  'SUCCEEDED' | 'FAILED' | 'FAILED_RETRYABLE' | 'FAILED_FATAL' | 'TIMEOUT' | 'CANCELLED' | 'DENIED' | 'UNKNOWN';

const beatMs = 100;

/** A worker without the SDK: tests control its version, its packets and when it answers. */
export async function startRawWorker(natsUrl: string, plan: RawWorkerPlan) {
  const { id, pool = 'main', max = 1, capabilities = [], labels = {}, echo = true, answers, sender = id } = plan;
  const { token = '', packetToken = token } = plan;
  const signer = plan.signingKey === undefined ? undefined : openPacketSigner(plan.signingKey);
  const seal = (bytes: Uint8Array) => signer?.seal(bytes) ?? bytes;
  const connection = await connect({ servers: natsUrl, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  const received: JobRequest[] = [];
  const held = new Set<string>();
  const head = () => ({ trace_id: '', sender_id: sender, nowUs: Date.now() * 1_000, auth_token: packetToken });
  const store = async (subject: string, bytes: Uint8Array) =>
    void (await connection.jetstream().publish(subject, bytes));

  const worker = {
    id,
    received,
    connection,
    /** Ids of the jobs in order of arrival. */
    order: () => received.map(({ job_id }) => job_id),
    beat(): void {
      const beat = {
        worker_id: id,
        pool,
        max_parallel_jobs: max,
        active_jobs: plan.counts?.() ?? held.size,
        capabilities,
        labels,
        auth_token: token,
      };
      connection.publish(
        subjects.heartbeat.name,
        seal(encodePacket(heartbeatPacket({ ...head(), auth_token: '' }, beat))),
      );
    },
    shake({ draining = false, topics = ['job.>'] } = {}): void {
      const shake = {
        component_id: id,
        ready_topics: draining ? [] : topics,
        capabilities: draining ? { 'x-draining': true } : {},
      };
      connection.publish(subjects.handshake.name, seal(encodePacket(handshakePacket(head(), shake))));
    },
    progress(job_id: string, percent = 50, over: JobProgressDraft = {}): void {
      const progress = jobProgressPacket(head(), { job_id, percent, message: 'working', ...over });
      connection.publish(subjects.jobProgress.name, seal(encodePacket(progress)));
    },
    /** Sends log lines and partial output. */
    report(job_id: string, over: JobProgressDraft): void {
      const report = jobProgressPacket(head(), { job_id, ...over });
      connection.publish(subjects.jobStream.name, encodePacket(report));
    },
    /** The n-th dispatch of a job that reached this worker. */
    dispatched: (job_id: string, nth = 1): Promise<JobRequest> =>
      eventually(() => {
        const request = received.filter((one) => one.job_id === job_id)[nth - 1];
        if (!request) throw new Error(`${id} has not got ${job_id} ${nth} times`);
        return request;
      }),
    /** Answers a dispatch; resolves when the bus has stored the answer. */
    async answer(request: JobRequest, status: JobResponse = 'SUCCEEDED', over: JobResultDraft = {}): Promise<void> {
      const draft = {
        job_id: request.job_id,
        worker_id: id,
        status: toJobStatus(status === 'UNKNOWN' ? 'FAILED' : status),
        execution_ms: 5,
        ...(echo && { dispatch: request.dispatch }),
        ...over,
      };
      const packet = rawPacket(jobResultPacket(head(), draft));
      // Set on the raw packet, since the encoder writes no unknown status.
      if (status === 'UNKNOWN') Object.assign(packet, { job_result: { ...packet.job_result, status: 99 } });
      await store(subjects.jobResult.name, seal(wire.BusPacket.encode(packet).finish()));
      // Until then heartbeats count the job; otherwise the scheduler would take it for lost.
      held.delete(request.job_id);
    },
    raw: store,
    /** Stops its heartbeats, as if it had died. */
    mute(): void {
      clearInterval(timer);
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      await connection.close();
    },
  };
  connection.subscribe(workerJobsSubject(id), {
    callback: (_, { data }) => {
      const decoded = decodePacket(data);
      if (decoded.kind !== 'ok' || decoded.packet.kind !== 'job_request') return;
      const request = decoded.packet.body;
      received.push(request);
      held.add(request.job_id);
      if (answers) void worker.answer(request, ...answers(request));
    },
  });
  await connection.flush();
  const timer = setInterval(() => void (plan.silent || connection.isClosed() || worker.beat()), beatMs);
  if (!plan.silent) worker.beat();
  await connection.flush();
  return worker;
}

export type RawWorker = Awaited<ReturnType<typeof startRawWorker>>;
