import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpLoad } from './http-load';
import { cpuUs, each } from './process-cost';
import type { Product } from './product';
import { post, runTrips, startRun, untilSucceeded } from './runs';

const inFlight = 64;

/** CPU of all processes for a step, µs. */
export async function stepCost(product: Product, runs: number): Promise<number> {
  const { pids } = product;
  const before = each(pids, cpuUs);
  await runTrips(product, 'one', inFlight, runs);
  const after = each(pids, cpuUs);
  return Object.keys(pids).reduce((us, name) => us + (after[name] ?? 0) - (before[name] ?? 0), 0) / runs;
}

/** Steps of one run that each wait for a time. */
const timersEach = 1_000;

export interface Timers {
  /** What one takes in Redis, with its step, bytes. */
  bytes: number;
  /** How many fired a second, from the first that was due until the last had fired. */
  rate: number;
}

/** Many timers that come due within a second. */
export async function setAndFire(product: Product, count: number): Promise<Timers> {
  const runs = Math.ceil(count / timersEach);
  // Time enough to set them all.
  const waitSec = 10 + Math.ceil(count / 1_500);
  const dueMs = Date.now() + waitSec * 1_000;
  const delay_until = new Date(dueMs).toISOString();
  const steps = Object.fromEntries(Array.from({ length: timersEach }, (_, i) => [`t${i}`, { type: 'delay', delay_until }])); // prettier-ignore
  await post(product, '/api/v1/workflows', { id: 'bench-timers', name: 'timers', steps });
  const before = await product.redisBytes();
  const ids: string[] = [];
  await clients(product, runs, async (send) => void ids.push(await startRun(product, send, 'bench-timers', {})));
  while ((await product.timersSet()) < runs * timersEach) {
    if (Date.now() > dueMs) throw new Error(`the timers were not set within ${waitSec} s`);
    await sleep(20);
  }
  const bytes = ((await product.redisBytes()) - before) / (runs * timersEach);
  await sleep(Math.max(0, dueMs - Date.now()));
  const firstMs = performance.now();
  while ((await product.timersSet()) > 0) await sleep(20);
  const rate = (runs * timersEach) / ((performance.now() - firstMs) / 1_000);
  // With connections of their own: the gateway closes those that are idle for so long.
  await clients(product, ids.length, (send, i) => untilSucceeded(product, send, ids[i] ?? ''));
  return { bytes, rate };
}

async function clients(product: Product, count: number, act: Parameters<HttpLoad['run']>[1]): Promise<void> {
  const load = await product.openLoad(8);
  try {
    await load.run(count, act);
  } finally {
    load.close();
  }
}
