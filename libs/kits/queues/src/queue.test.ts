import { eventually, useServers } from '@svc/testing';
import { shape } from '@svc/contract';
import type { Queue, Worker } from 'bullmq';
import Joi from 'joi';
import { entryOptions, openQueue, processorsFor, startWorkers, type QueueSpec, type WorkerHooks } from './index';

interface Payload {
  n: number;
}
interface Ctx {
  seen: string[];
}

const spec = (over: Partial<QueueSpec<Payload>> = {}): QueueSpec<Payload> => ({
  name: 'numbers',
  title: 'Numbers',
  purpose: 'Counts',
  producers: ['counter'],
  consumer: 'counter',
  payload: shape<Payload>({ required: { n: Joi.number() } }),
  concurrency: 4,
  attempts: 3,
  backoffMs: 10,
  keep: { completedSec: 0, failedSec: 60 },
  ...over,
});
const numbers = spec();
const processor = processorsFor<Ctx>();

// Before the servers' own hook: clients must end first.
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.reverse().splice(0)) await stop();
});
const servers = useServers();

const hooks = (failed: string[] = []): WorkerHooks => ({
  onFailed: (_queue, _entry, error) => void failed.push(error.message),
  onError: () => undefined,
});
function run(processors: Parameters<typeof startWorkers<Ctx>>[2], failed: string[] = []): { queue: Queue; ctx: Ctx } {
  const connection = { url: servers.redisUrl };
  const ctx: Ctx = { seen: [] };
  const queue = openQueue(numbers, connection);
  const workers: Worker[] = startWorkers('counter', { numbers }, processors, ctx, connection, hooks(failed));
  stops.push(() => queue.close(), ...workers.map((worker) => () => worker.close()));
  return { queue, ctx };
}

describe('a processor', () => {
  it('gets the payload, the attempt and the context', async () => {
    const { queue, ctx } = run([
      processor(numbers, async (work) => void work.ctx.seen.push(`${work.payload.n} try ${work.attempt}`)),
    ]);

    await queue.add('x', { n: 7 });

    await eventually(() => expect(ctx.seen).toEqual(['7 try 1']));
    await eventually(async () => expect(await queue.getJobCountByTypes('completed', 'active')).toBe(0));
  });

  it('that throws is retried up to the declared attempts, and then fails', async () => {
    const failed: string[] = [];
    const { queue, ctx } = run(
      [
        processor(numbers, async ({ ctx: { seen }, attempt }) => {
          seen.push(String(attempt));
          throw new Error('no');
        }),
      ],
      failed,
    );

    await queue.add('x', { n: 1 });

    await eventually(async () => expect(await queue.getFailedCount()).toBe(1));
    expect(ctx.seen).toEqual(['1', '2', '3']);
    expect(failed).toEqual(['no', 'no', 'no']);
  });

  it('that asks for a later retry gets the same entry again, without using an attempt', async () => {
    const { queue, ctx } = run([
      processor(numbers, async ({ ctx: { seen }, attempt }) => {
        seen.push(String(attempt));
        return seen.length < 5 ? { retryInMs: 5 } : undefined;
      }),
    ]);

    await queue.add('x', { n: 1 }, { jobId: 'same' });

    await eventually(() => expect(ctx.seen).toEqual(['1', '1', '1', '1', '1']));
    await eventually(async () => expect(await queue.getJob('same')).toBeUndefined());
  });

  it('is not called for an invalid payload, which fails immediately', async () => {
    const failed: string[] = [];
    const { queue, ctx } = run([processor(numbers, async (work) => void work.ctx.seen.push('asked'))], failed);

    await queue.add('x', { m: 1 });

    await eventually(async () => expect(await queue.getFailedCount()).toBe(1));
    // Emitted after the response of Redis.
    await eventually(() => expect(failed).toEqual(['numbers: payload is not valid: "n" is required']));
    expect(ctx.seen).toEqual([]);
  });
});

describe('starting an app’s workers', () => {
  const start = (queues: Record<string, QueueSpec<Payload>>, ...of: QueueSpec<Payload>[]) =>
    startWorkers(
      'counter',
      queues,
      of.map((queue) => processor(queue, async () => undefined)),
      { seen: [] },
      { url: servers.redisUrl },
      hooks(),
    );

  it('rejects a queue of the app without a processor, or with two', () => {
    expect(() => start({ numbers })).toThrow('queue numbers must have one processor in counter and has 0');
    expect(() => start({ numbers }, numbers, numbers)).toThrow('and has 2');
  });

  it('rejects a processor for a queue of another app', () => {
    const theirs = spec({ name: 'theirs', consumer: 'other' });

    expect(() => start({ numbers, theirs }, numbers, theirs)).toThrow('which it does not consume');
  });
});

describe('the options of an entry', () => {
  it('remove completed entries, so that the same id can be added again, and keep failed ones', () => {
    expect(entryOptions(numbers)).toMatchObject({ attempts: 3, removeOnComplete: true, removeOnFail: { age: 60 } });
    expect(entryOptions(spec({ keep: { completedSec: 5, failedSec: 60 } })).removeOnComplete).toEqual({ age: 5 });
  });
});
