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

/** What a worker says about a job it got, and with which words. */
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
  /** Everything the worker said, for the checkers. */
  answers: Answer[];
  /** What it does with a job: answers it, or keeps it until `answer` is called. */
  onJob(request: JobRequest): Reply | undefined;
  slots?: number;
  /** After this long an unanswered job is no longer counted; default never. */
  forgetsAfterMs?: number;
}

const beatMs = 200;

/** A worker that speaks packets by hand, so that a test may say when it answers, what, and in whose name. */
export async function startScriptedWorker(plan: WorkerPlan) {
  const { id, pool, redis, answers, slots = 50, forgetsAfterMs } = plan;
  const connection = await connect({ servers: plan.natsUrl, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  const got: JobRequest[] = [];
  const held = new Map<string, JobRequest>();
  const head = (sender = id) => ({ trace_id: '', sender_id: sender, nowUs: Date.now() * 1_000 });

  const worker = {
    id,
    /** Every dispatch that reached it, repeats included. */
    got,
    /** The dispatch it holds of a job. */
    held: (jobId: string) => held.get(jobId),
    /** Answers a dispatch; with another sender it is a lie. */
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
      // Under no message id: what a worker repeats must not be dropped by the bus but by the scheduler.
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
      if (reply) void worker.answer(request, reply).catch(() => undefined); // it stays held, as with a worker that died
    },
  });
  const timer = setInterval(beat, beatMs);
  beat();
  await connection.flush();
  return worker;
}

export type ScriptedWorker = Awaited<ReturnType<typeof startScriptedWorker>>;
