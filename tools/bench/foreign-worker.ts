/**
 * A worker that implements only the minimum of docs/reference/worker-protocol.md, without the SDK and without fields of
 * 1000 and above: it subscribes with core NATS, reads each input from Redis, stores each result there and publishes it.
 */
import {
  decodePacket,
  encodePacket,
  heartbeatPacket,
  jobResultPacket,
  subjects,
  toJobStatus,
  type JobRequest,
} from '@svc/contract';
import { parseServerList } from '@svc/jetstream';
import { Redis } from 'ioredis';
import { connect } from 'nats';
import { benchAnswer, ExecutionCounts, reportReady } from './execution-counts';

const heartbeatMs = 1_000;
const resultTtlSec = 3_600;
const id = process.env['WORKER_ID'] ?? 'foreign-1';
const counts = new ExecutionCounts();

async function start(): Promise<void> {
  const { servers, credentials } = parseServerList(process.env['NATS_URL'] ?? '');
  const connection = await connect({ servers, name: id, ...credentials });
  const redis = new Redis(process.env['REDIS_URL'] ?? '');
  let active = 0;

  const head = (traceId: string) => ({ trace_id: traceId, sender_id: id, nowUs: Date.now() * 1_000 });
  const beat = () => {
    const max_parallel_jobs = Number(process.env['BENCH_CONCURRENCY'] ?? 256);
    const heartbeat = { worker_id: id, pool: 'demo', max_parallel_jobs, active_jobs: active };
    connection.publish(subjects.heartbeat.name, encodePacket(heartbeatPacket(head(''), heartbeat)));
  };
  const run = async (traceId: string, request: JobRequest) => {
    counts.add(request.job_id);
    const input = JSON.parse((await redis.get(request.context_ptr.slice('redis://'.length))) ?? '{}') as {
      prompt: string;
    };
    const key = `res:${request.job_id}`;
    const answer = benchAnswer(input.prompt, request.dispatch?.attempt ?? 1);
    await redis.set(key, JSON.stringify(answer), 'EX', resultTtlSec);
    const { job_id, dispatch, identity } = request;
    const status = toJobStatus('SUCCEEDED');
    const result = { job_id, worker_id: id, status, result_ptr: `redis://${key}`, dispatch, identity };
    connection.publish(subjects.jobResult.name, encodePacket(jobResultPacket(head(traceId), result)));
  };

  connection.subscribe(`worker.${id}.jobs`, {
    callback: (error, { data }) => {
      const decoded = decodePacket(data);
      if (error ?? (decoded.kind !== 'ok' || decoded.packet.kind !== 'job_request')) return;
      active += 1;
      run(decoded.packet.trace_id, decoded.packet.body)
        // Without a result the bench fails, since it waits for every job.
        .catch((failure: unknown) => console.error(failure))
        .finally(() => (active -= 1));
    },
  });
  // A job that is sent before the subscription exists would be missed.
  await connection.flush();
  beat();
  setInterval(beat, heartbeatMs);
}

reportReady(start());
