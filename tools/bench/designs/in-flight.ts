/**
 * Compares designs for tracking jobs in flight in BullMQ: `node tools/run-ts.mjs tools/bench/designs/in-flight.ts [jobs]`.
 * Each job is fetched from a queue, dispatched, and ends one turn of the event loop later; a record is written at both
 * steps. ADR 0007 has the outcome.
 */
import { startRedis } from '@svc/testing';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { cpuUs } from '../process-cost';
import { commandCounts, sum } from '../redis-counts';

const inFlight = 256;

const dispatch = {
  /** Completed at dispatch; a sorted set of our own holds its deadline. */
  finished: `redis.call('HSET', KEYS[1], 'state', 'DISPATCHED')
    redis.call('ZADD', '{d}:deadlines', ARGV[2], ARGV[1])`,
  /** A delayed entry in a separate queue, due at the deadline: the same writes as BullMQ's own add. */
  parked: `redis.call('HSET', KEYS[1], 'state', 'DISPATCHED')
    redis.call('HSET', '{d}:flight:' .. ARGV[1], 'name', 'job', 'data', '{}', 'opts', '{}', 'timestamp', ARGV[2], 'delay',
      '900000', 'priority', '0')
    redis.call('ZADD', '{d}:flight:delayed', ARGV[2] * 4096, ARGV[1])`,
  /** The entry stays active, under a lock that lasts until the deadline. */
  held: `redis.call('HSET', KEYS[1], 'state', 'DISPATCHED')`,
} as const;
type Design = keyof typeof dispatch;

const end: Record<Design, string> = {
  finished: `redis.call('HSET', KEYS[1], 'state', 'SUCCEEDED')
    redis.call('ZREM', '{d}:deadlines', ARGV[1])`,
  parked: `redis.call('HSET', KEYS[1], 'state', 'SUCCEEDED')
    if redis.call('ZREM', '{d}:flight:delayed', ARGV[1]) == 1 then redis.call('DEL', '{d}:flight:' .. ARGV[1]) end`,
  held: `redis.call('HSET', KEYS[1], 'state', 'SUCCEEDED')`,
};

async function measure(design: Design, jobs: number): Promise<void> {
  const server = await startRedis();
  const redis = new Redis(server.url);
  const connection = { port: server.port, maxRetriesPerRequest: null };
  const queue = new Queue('jobs', { connection, prefix: '{d}' });
  const [dispatching, ending] = await Promise.all(
    [dispatch[design], end[design]].map(async (lua) => String(await redis.script('LOAD', lua))),
  );
  const run = (sha: string | undefined, id: string) =>
    redis.evalsha(sha ?? '', 1, `{d}:record:${id}`, id, String(Date.now() + 900_000));
  const entry = { name: 'job', data: {}, opts: { removeOnComplete: true } };
  for (let left = jobs; left > 0; left -= 1_000) await queue.addBulk(Array.from({ length: 1_000 }, () => entry));

  let ended = 0;
  let resolveAll: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (resolveAll = resolve));
  const free: (() => void)[] = [];
  let flying = 0;
  const finish = async (id: string): Promise<void> => {
    await new Promise((resume) => setImmediate(resume));
    await run(ending, id);
    flying -= 1;
    free.shift()?.();
    if ((ended += 1) === jobs) resolveAll();
  };
  const worker = new Worker(
    'jobs',
    async ({ id = '' }) => {
      if (design !== 'held') while (flying >= inFlight) await new Promise<void>((resume) => free.push(resume));
      flying += 1;
      await run(dispatching, id);
      const finished = finish(id);
      if (design === 'held') await finished;
    },
    {
      connection,
      prefix: '{d}',
      concurrency: design === 'held' ? inFlight : 50,
      lockDuration: design === 'held' ? 900_000 : 60_000,
      autorun: false,
    },
  );
  await worker.waitUntilReady();
  await redis.config('RESETSTAT');
  const before = { redis: cpuUs(server.pid), own: process.cpuUsage(), atMs: performance.now() };
  void worker.run();
  await all;
  const tookMs = performance.now() - before.atMs;
  const { user, system } = process.cpuUsage(before.own);
  const redisUs = cpuUs(server.pid) - before.redis;
  const commands = sum(await commandCounts(redis));
  const row = [tookMs / 1_000, user + system, redisUs, commands].map((value) => value / jobs);
  const [secs = 0, ownUs = 0, storeUs = 0, each = 0] = row;
  const cells = [design, (1 / secs).toFixed(0), ownUs.toFixed(0), storeUs.toFixed(0), each.toFixed(1)];
  console.log(`| ${cells.join(' | ')} |`);
  await worker.close();
  await queue.close();
  redis.disconnect();
  await server.stop();
}

async function main(): Promise<void> {
  const jobs = Number(process.argv[2] ?? 20_000);
  console.log('| design | jobs/s | scheduler µs a job | Redis µs a job | commands a job |');
  console.log('| --- | --- | --- | --- | --- |');
  for (let round = 0; round < 3; round++) {
    for (const design of Object.keys(dispatch) as Design[]) await measure(design, jobs);
  }
}

void main();
