import { encodePacket, jobProgressPacket, subjects } from '@svc/contract';
import { parseServerList } from '@svc/jetstream';
import { keys, type ReportChange } from '@svc/store';
import { withTimeout } from '@svc/runtime';
import { createWorker, type Job } from '@svc/worker-sdk';
import { connect, type NatsConnection } from 'nats';
import { WebSocket } from 'ws';
import type { Product } from './product';

/** Topic of a pool that the worker of the drains does not belong to. */
const streamTopic = 'job.demo.render';
/** Events that are on their way at a time: fewer than the gateway queues for a broadcast. */
const WINDOW = 200;
/** A job may send about 60 reports per second. */
const REPORT_EVERY_MS = 20;

/** Events per second that reach a number of clients with a WebSocket each, together. */
export async function fanOutRate(product: Product, clients: number, events: number): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: clients }, () => openStream(product, '/api/v1/stream')));
  let received = 0;
  let resume: () => void = () => undefined;
  let expected = Infinity;
  for (const socket of sockets) {
    socket.on('message', () => {
      received += 1;
      if (received >= expected) resume();
    });
    socket.on('close', (code) => {
      throw new Error(`the gateway closed a stream with ${code}`);
    });
  }
  const send = async (count: number): Promise<void> => {
    for (let sent = 0; sent < count; sent += WINDOW) {
      const size = Math.min(WINDOW, count - sent);
      expected = received + size * clients;
      const arrived = new Promise<void>((resolve) => (resume = resolve));
      // As the scripts announce them: the changes of one batch in one message.
      for (let i = 0; i < size; i += 20) {
        const lines = Array.from({ length: Math.min(20, size - i) }, (_, n) => reportLine(product, sent + i + n));
        void product.redis.publish(keys.changes(), lines.join('\n'));
      }
      await arrived;
    }
  };
  try {
    await send(WINDOW * 5);
    const startedMs = performance.now();
    await send(events);
    return (events * clients * 1_000) / (performance.now() - startedMs);
  } finally {
    for (const socket of sockets) socket.removeAllListeners('close').terminate();
  }
}

/** Milliseconds from the publish of a worker to the client of the job, for each report. */
export async function streamLatencies(product: Product, reports: number): Promise<number[]> {
  const { nats_url: natsUrl, redis_url: redisUrl } = product.stack.info;
  const { servers, credentials } = parseServerList(natsUrl);
  const connection = await connect({ servers, ...credentials });
  let begin: (job: Job) => void = () => undefined;
  const begun = new Promise<Job>((resolve) => (begin = resolve));
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const worker = createWorker({
    id: 'bench-stream',
    pool: 'gpu',
    capabilities: ['gpu'],
    natsUrl,
    redisUrl,
    signals: [],
    topics: { [streamTopic]: (job) => (begin(job), ended) },
  });
  await worker.start();
  try {
    void fetch(`${product.stack.info.base_url}/api/v1/jobs`, {
      method: 'POST',
      headers: { 'X-API-Key': product.stack.info.keys.admin, 'Content-Type': 'application/json' },
      body: JSON.stringify({ topic: streamTopic, prompt: 'stream' }),
    });
    const job = await withTimeout(begun, 10_000);
    const socket = await openStream(product, `/api/v1/jobs/${job.jobId}/stream`);
    const ms = await measureReports(connection, socket, worker.id, job, reports);
    socket.terminate();
    return ms;
  } finally {
    end();
    await worker.stop();
    await connection.close();
  }
}

async function measureReports(
  connection: NatsConnection,
  socket: WebSocket,
  workerId: string,
  { jobId, dispatchId, attempt }: Job,
  reports: number,
): Promise<number[]> {
  const sentMs = new Map<string, number>();
  const ms: number[] = [];
  socket.on('message', (data: Buffer) => {
    const packet = JSON.parse(data.toString()) as { jobProgress?: { output?: string } };
    const startedMs = sentMs.get(packet.jobProgress?.output ?? '');
    if (startedMs !== undefined) ms.push(performance.now() - startedMs);
  });
  for (let i = 0; i < reports; i++) {
    const output = `token ${i} `;
    const head = { trace_id: '', sender_id: workerId, nowUs: Date.now() * 1_000 };
    const dispatch = { dispatch_id: dispatchId, attempt };
    const packet = jobProgressPacket(head, { job_id: jobId, output, output_offset: i, dispatch });
    sentMs.set(output, performance.now());
    connection.publish(subjects.jobStream.name, encodePacket(packet));
    await new Promise((resolve) => setTimeout(resolve, REPORT_EVERY_MS));
  }
  for (let waitedMs = 0; ms.length < reports; waitedMs += 10) {
    if (waitedMs > 5_000) throw new Error(`${reports - ms.length} of ${reports} reports did not arrive`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return ms;
}

function openStream(product: Product, path: string): Promise<WebSocket> {
  const { base_url: url, keys: apiKeys } = product.stack.info;
  const socket = new WebSocket(url.replace('http', 'ws') + path, { headers: { 'X-API-Key': apiKeys.admin } });
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** A report of a worker, as its script announces it. */
function reportLine(product: Product, i: number): string {
  const event = { job_id: 'bench', attempt: 1, kind: 'output', at: Date.now() * 1_000, text: `token ${i}`, offset: i };
  const change: ReportChange = {
    kind: 'report',
    id: 'bench',
    tenant: product.stack.info.tenant,
    worker_id: 'bench-stream',
    trace_id: 'bench',
    event: JSON.stringify(event),
  };
  return JSON.stringify(change);
}
