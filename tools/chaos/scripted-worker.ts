import {
  decodePacket,
  encodePacket,
  heartbeatPacket,
  jobResultPacket,
  toJobStatus,
  subjects,
  workerJobsSubject,
  type JobRequest,
} from '@svc/contract';
import { connect } from 'nats';
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Answer } from './history';

export type WorkerStatus = 'SUCCEEDED' | 'FAILED' | 'FAILED_RETRYABLE' | 'FAILED_FATAL';

/** Result that a worker sends for a job. */
export interface Reply {
  status: WorkerStatus;
  /** The result's text. */
  text?: string;
  errorCode?: string;
}

export interface WorkerPlan {
  id: string;
  pool: string;
  natsUrl: string;
  redis: Redis;
  /** All results the worker sent, for the checkers. */
  answers: Answer[];
  /** Returns the result of a job, or undefined to hold it until `answer` is called. */
  onJob(request: JobRequest): Reply | undefined;
  slots?: number;
  /** Its credential, where workers are attested. */
  token?: string;
  /** Time after which a held job is no longer counted; default never. */
  forgetsAfterMs?: number;
}

const beatMs = 200;

/** A worker that builds its own packets, so that a test controls the time, content and sender of its results. */
export async function startScriptedWorker(plan: WorkerPlan) {
  const { id, pool, redis, answers, slots = 50, token: auth_token = '', forgetsAfterMs } = plan;
  const connection = await connect({ servers: plan.natsUrl, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  const got: JobRequest[] = [];
  const held = new Map<string, JobRequest>();
  const head = (sender = id) => ({ trace_id: '', sender_id: sender, nowUs: Date.now() * 1_000, auth_token });

  const worker = {
    id,
    /** Every dispatch that reached it, repeats included. */
    got,
    /** Its current dispatch of a job. */
    held: (jobId: string) => held.get(jobId),
    /** Sends the result of a dispatch; with another sender it is forged. */
    async answer(request: JobRequest, reply: Reply, sender = id): Promise<void> {
      if (sender === id) held.delete(request.job_id);
      const key = `res:${request.job_id}:${randomUUID()}`;
      await redis.set(key, reply.text ?? 'done', 'EX', 3_600);
      const { dispatch } = request;
      answers.push({
        jobId: request.job_id,
        senderId: sender,
        workerId: sender,
        dispatchId: dispatch?.dispatch_id ?? '',
        resultPtr: `redis://${key}`,
      });
      const packet = jobResultPacket(head(sender), {
        job_id: request.job_id,
        worker_id: sender,
        status: toJobStatus(reply.status),
        execution_ms: 1,
        dispatch,
        ...(reply.status === 'SUCCEEDED' && { result_ptr: `redis://${key}`, cost_usd: 0.004 }),
        ...(reply.errorCode !== undefined && { error_code: reply.errorCode, error_message: reply.errorCode }),
      });
      // Without a message id, so that the scheduler, not the bus, has to drop repeats.
      await connection.jetstream().publish(subjects.jobResult.name, encodePacket(packet));
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      await connection.close();
    },
  };
  const beat = () => {
    if (connection.isClosed()) return;
    const body = { worker_id: id, pool, max_parallel_jobs: slots, active_jobs: held.size };
    connection.publish(subjects.heartbeat.name, encodePacket(heartbeatPacket(head(), body)));
  };
  connection.subscribe(workerJobsSubject(id), {
    callback: (_, { data }) => {
      const decoded = decodePacket(data);
      if (decoded.kind !== 'ok' || decoded.packet.kind !== 'job_request') return;
      const request = decoded.packet.body;
      got.push(request);
      held.set(request.job_id, request);
      if (forgetsAfterMs !== undefined) setTimeout(() => held.delete(request.job_id), forgetsAfterMs).unref();
      const reply = plan.onJob(request);
      if (reply) void worker.answer(request, reply).catch(() => undefined); // remains held, as after a crash of the worker
    },
  });
  const timer = setInterval(beat, beatMs);
  beat();
  await connection.flush();
  return worker;
}

export type ScriptedWorker = Awaited<ReturnType<typeof startScriptedWorker>>;
