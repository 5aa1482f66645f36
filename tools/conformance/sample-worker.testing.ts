import {
  ComponentRole,
  decodePacket,
  dispatchEchoLabel,
  encodePacket,
  handshakePacket,
  heartbeatPacket,
  inlineDataLabel,
  jobProgressPacket,
  jobResultPacket,
  subjects,
  toJobStatus,
  workerConsumer,
  workerJobsSubject,
  type JobRequest,
  type JobResultDraft,
} from '@svc/contract';
import Redis from 'ioredis';
import { AckPolicy, connect, DeliverPolicy, type JsMsg } from 'nats';
import type { WorkerProcess } from './session';

/** Mistakes that a worker can make, one for each check. */
export interface Faults {
  heartbeatOfAnotherSender?: boolean;
  handshakeWithoutVersion?: boolean;
  pointerOfAnotherJob?: boolean;
  wrongAttempt?: boolean;
  failuresSucceed?: boolean;
  acknowledgesFirst?: boolean;
  repeatsRunningJobs?: boolean;
  repeatsFinishedJobs?: boolean;
  ignoresCancels?: boolean;
  cancelsEveryDispatch?: boolean;
  ignoresNewAttempts?: boolean;
  refusesLargeInputs?: boolean;
  sendsLargeResultsInline?: boolean;
  returnsNoTicket?: boolean;
  acceptsAnyTenant?: boolean;
  acceptsForeignDispatches?: boolean;
  stopsAtMalformedPackets?: boolean;
  progressBeyondAll?: boolean;
  acceptsJobsWhileDraining?: boolean;
}

interface Run {
  request: JobRequest;
  cancel: () => void;
}

/** A small worker that follows the protocol, except for its faults. */
export async function startSampleWorker(
  { natsUrl, redisUrl, id }: { natsUrl: string; redisUrl: string; id: string },
  faults: Faults,
): Promise<WorkerProcess & { stop(): Promise<void> }> {
  const connection = await connect({ servers: natsUrl });
  const redis = new Redis(redisUrl);
  const running = new Map<string, Run>();
  const finished = new Map<string, Uint8Array>();
  let isDraining = false;
  let isStopped = false;
  let end: () => void = () => undefined;
  const ended = new Promise<string>((resolve) => (end = () => resolve('it was stopped')));

  const head = (traceId = '') => ({ trace_id: traceId, sender_id: id, nowUs: Date.now() * 1_000 });
  const announce = () => {
    const sender = faults.heartbeatOfAnotherSender ? { ...head(), sender_id: 'another' } : head();
    const labels = { [dispatchEchoLabel]: 'true', [inlineDataLabel]: 'true' };
    const running_jobs = [...running.values()].map(({ request }) => request.job_id);
    const beat = { worker_id: id, pool: id, active_jobs: running.size, max_parallel_jobs: 8, labels, running_jobs };
    connection.publish(subjects.heartbeat.name, encodePacket(heartbeatPacket(sender, beat)));
    const handshake = {
      component_id: id,
      role: ComponentRole.COMPONENT_ROLE_WORKER,
      supported_versions: faults.handshakeWithoutVersion ? [] : [1],
      ready_topics: isDraining ? [] : ['job.conformance.*'],
      capabilities: { progress: true, ...(isDraining && { 'x-draining': true }) },
    };
    connection.publish(subjects.handshake.name, encodePacket(handshakePacket(head(), handshake)));
  };

  async function handle(data: Uint8Array): Promise<void> {
    if (isStopped) return;
    const decoded = decodePacket(data);
    if (decoded.kind === 'malformed' && faults.stopsAtMalformedPackets) isStopped = true;
    const mayRun =
      decoded.kind === 'ok' || (decoded.kind === 'invalid' && decoded.code === 202 && faults.acceptsAnyTenant);
    if (!mayRun || decoded.packet.kind !== 'job_request') return;
    const { body: request, trace_id } = decoded.packet;
    const { dispatch } = request;
    if (dispatch?.assigned_worker_id !== id && !faults.acceptsForeignDispatches) return;
    if (isDraining && !faults.acceptsJobsWhileDraining) return;
    const key = faults.ignoresNewAttempts ? request.job_id : `${request.job_id} ${dispatch?.dispatch_id}`;
    const known = finished.get(key);
    if (known && !faults.repeatsFinishedJobs) return connection.publish(subjects.jobResult.name, known);
    if (running.has(key) && !faults.repeatsRunningJobs) return;
    const draft = await run(request, trace_id, key);
    const echo = faults.wrongAttempt ? { ...dispatch, attempt: 1 } : dispatch;
    const result = { job_id: request.job_id, worker_id: id, dispatch: echo, identity: request.identity, ...draft };
    const bytes = encodePacket(jobResultPacket(head(trace_id), result));
    running.delete(key);
    finished.set(key, bytes);
    connection.publish(subjects.jobResult.name, bytes);
  }

  async function run(request: JobRequest, traceId: string, key: string): Promise<Partial<JobResultDraft> & Status> {
    const startedMs = performance.now();
    const execution_ms = () => Math.round((performance.now() - startedMs) * 1_000);
    let isCancelled = false;
    const cancelled = new Promise<void>((resolve) => {
      running.set(key, { request, cancel: () => ((isCancelled = true), resolve()) });
    });
    const percent = faults.progressBeyondAll ? 150 : 50;
    const { job_id, dispatch, result_ticket } = request;
    const progress = { job_id, percent, dispatch, identity: request.identity };
    connection.publish(subjects.jobProgress.name, encodePacket(jobProgressPacket(head(traceId), progress)));
    if (request.topic.endsWith('fail') && !faults.failuresSucceed) {
      return { status: toJobStatus('FAILED_FATAL'), error_code: 'broken' };
    }
    const text = request.inline_input.length
      ? Buffer.from(request.inline_input).toString()
      : ((await redis.get(request.context_ptr.slice('redis://'.length))) ?? '{}');
    if (faults.refusesLargeInputs && text.length > 1024 * 1024) {
      return { status: toJobStatus('FAILED'), error_code: 'too_large' };
    }
    const input = JSON.parse(text) as { prompt?: string; context?: { seconds?: number } };
    if (request.topic.endsWith('slow')) await Promise.race([cancelled, wait(1_000 * (input.context?.seconds ?? 60))]);
    if (isCancelled) return { status: toJobStatus('CANCELLED') };
    const body = JSON.stringify({ echo: input.prompt });
    const status = toJobStatus('SUCCEEDED');
    const result_ptr = `redis://res:${faults.pointerOfAnotherJob ? 'another' : job_id}`;
    if (result_ticket.length > 0 && (body.length <= 64 * 1024 || faults.sendsLargeResultsInline)) {
      const ticket = faults.returnsNoTicket ? undefined : result_ticket;
      return {
        status,
        result_ptr,
        inline_result: Buffer.from(body),
        result_ticket: ticket,
        execution_ms: execution_ms(),
      };
    }
    await redis.set(result_ptr.slice('redis://'.length), body, 'EX', 600);
    return { status, result_ptr, execution_ms: execution_ms() };
  }

  connection.subscribe(subjects.jobCancel.name, {
    callback: (error, { data }) => {
      const decoded = error ? undefined : decodePacket(data);
      if (decoded?.kind !== 'ok' || decoded.packet.kind !== 'job_cancel' || faults.ignoresCancels) return;
      const { job_id, dispatch } = decoded.packet.body;
      for (const { request, cancel } of running.values()) {
        const isNamed = request.dispatch?.dispatch_id === dispatch?.dispatch_id || faults.cancelsEveryDispatch;
        if (request.job_id === job_id && isNamed) cancel();
      }
    },
  });
  const spec = workerConsumer(id);
  const manager = await connection.jetstreamManager();
  await manager.consumers.add(spec.stream, {
    durable_name: spec.durable,
    filter_subject: workerJobsSubject(id),
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.New,
  });
  const messages = await (await connection.jetstream().consumers.get(spec.stream, spec.durable)).consume();
  const take = async (message: JsMsg) => {
    if (faults.acknowledgesFirst) message.ack();
    await handle(message.data);
    message.ack();
  };
  void (async () => {
    // A job that still runs when the worker is stopped fails, since its connections are closed.
    for await (const message of messages) void take(message).catch(() => undefined);
  })();
  announce();
  const timer = setInterval(announce, 200);
  const stop = async () => {
    clearInterval(timer);
    messages.stop();
    await connection.close();
    redis.disconnect();
    end();
  };
  return {
    ended,
    stop,
    drain() {
      isDraining = true;
      announce();
      const settle = setInterval(() => {
        if (running.size > 0) return;
        clearInterval(settle);
        end();
      }, 20);
    },
  };
}

interface Status {
  status: NonNullable<JobResultDraft['status']>;
}

const wait = (ms: number) => new Promise<void>((resume) => setTimeout(resume, ms).unref());
