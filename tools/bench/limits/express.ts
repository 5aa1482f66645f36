import { bundleProgram, firstMessage, startChild, stopChild } from '../../child-program';
import { HttpLoad, httpRequest } from '../http-load';
import { submissionBody } from '../submission';
import { stopwatch } from '../statistics';
import type { LimitServers } from './servers';

/** Requests per second of a bare Express endpoint with a JSON body of 400 bytes, 64 connections. */
export const expressPost = (servers: LimitServers) => measurePostRate(servers, '/plain');

/** The same when each response is sent after its entry has been added to a queue. */
export const expressPostBullmqAdd = (servers: LimitServers) => measurePostRate(servers, '/add');

async function measurePostRate({ redis, quick }: LimitServers, path: string): Promise<number> {
  const script = await bundleProgram('tools/bench/limits/express-server.ts');
  const child = startChild(script, {
    ...process.env,
    NODE_ENV: 'production',
    BENCH_REDIS_PORT: String(redis.port),
  });
  const load = await HttpLoad.open(Number(await firstMessage(child)), 64);
  const request = httpRequest('POST', path, {}, JSON.stringify(submissionBody()));
  const post = async (count: number) =>
    load.run(count, async (send) => {
      const { status, body } = await send(request);
      if (status !== 200) throw new Error(`${path} answered ${status}: ${body}`);
    });
  try {
    await post(2_000);
    const count = quick ? 4_000 : 20_000;
    const measureRate = stopwatch();
    await post(count);
    return measureRate(count);
  } finally {
    load.close();
    await stopChild(child);
  }
}
