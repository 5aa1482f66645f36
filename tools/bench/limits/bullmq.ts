import { Queue, Worker } from 'bullmq';
import { stopwatch } from '../statistics';
import { measureRate, type LimitServers } from './servers';

const options = { removeOnComplete: true };

/** Entries added per second, each awaited, 50 in flight. */
export async function bullmqAdd({ redis: { port }, quick }: LimitServers): Promise<number> {
  const queue = new Queue('bench-add', { connection: { port } });
  const add = (i: number) => queue.add('job', { job_id: `job-${i}` }, options);
  try {
    await measureRate(500, 50, add);
    return await measureRate(quick ? 5_000 : 30_000, 50, add);
  } finally {
    await queue.obliterate({ force: true });
    await queue.close();
  }
}

/** Waiting entries processed per second by an empty processor, 50 at once. */
export async function bullmqProcess({ redis: { port }, quick }: LimitServers): Promise<number> {
  const queue = new Queue('bench-process', { connection: { port } });
  const count = quick ? 5_000 : 30_000;
  const entry = { name: 'job', data: { job_id: 'job' }, opts: options };
  for (let left = count; left > 0; left -= 1_000) await queue.addBulk(Array.from({ length: 1_000 }, () => entry));
  const worker = new Worker('bench-process', async () => undefined, {
    connection: { port, maxRetriesPerRequest: null },
    concurrency: 50,
    autorun: false,
  });
  try {
    await worker.waitUntilReady();
    let left = count;
    const rateOfAll = stopwatch();
    const done = new Promise<void>((resolve) => worker.on('completed', () => (left -= 1) === 0 && resolve()));
    void worker.run();
    await done;
    return rateOfAll(count);
  } finally {
    await worker.close();
    await queue.obliterate({ force: true });
    await queue.close();
  }
}
