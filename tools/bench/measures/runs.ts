import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpLoad } from '../http-load';
import { cpuUs, each } from '../process-cost';
import type { Product } from '../product';
import { post, runsAtGate, runTrips, startRun, untilSucceeded, type BenchWorkflow } from '../runs';
import type { Session } from '../session';
import { median, percentile } from '../statistics';

const inFlight = 64;

/** Steps a second of 64 clients that each wait for the end of their run before they start the next. */
export const stepsPerSec =
  (workflow: BenchWorkflow, steps: number) =>
  async (session: Session): Promise<number> => {
    const product = await session.workflows();
    await runTrips(product, workflow, inFlight, Math.ceil(session.sizes.runs / 10));
    const { rate } = await runTrips(product, workflow, inFlight, Math.ceil(session.sizes.runs / steps));
    return rate * steps;
  };

/** From the start of a run over 1,000 items, each a governed job, to its end, s; the middle one of five. */
export async function fanOut(session: Session): Promise<number> {
  const product = await session.workflows();
  const load = await product.openLoad(1);
  const seconds: number[] = [];
  try {
    await load.run(6, async (send, i) => {
      const sentMs = performance.now();
      const items = Array.from({ length: session.sizes.items }, (_, n) => n);
      await untilSucceeded(product, send, await startRun(product, send, 'bench-fan', { items }));
      // The first one warms up.
      if (i > 0) seconds.push((performance.now() - sentMs) / 1_000);
    });
  } finally {
    load.close();
  }
  return median(seconds);
}

/** From the POST of an approval to the end of a run that only waited for it, ms. */
export async function approveResume(session: Session): Promise<number> {
  const product = await session.workflows();
  const ids = await runsAtGate(product, session.sizes.approvals);
  const load = await product.openLoad(1);
  const ms: number[] = [];
  try {
    await load.run(ids.length, async (send, i) => {
      const id = ids[i] ?? '';
      const sentMs = performance.now();
      const { status, body } = await send(product.post(`/api/v1/approvals/${id}:ask@1/approve`, {}, 'approver'));
      if (status !== 200) throw new Error(`an approval was answered ${status}: ${body}`);
      await untilSucceeded(product, send, id);
      ms.push(performance.now() - sentMs);
    });
  } finally {
    load.close();
  }
  return percentile(ms, 0.5);
}

/** What a run that waits at a gate takes in Redis, with all that belongs to it, bytes. */
export async function gateBytes(session: Session): Promise<number> {
  const { bytes } = await session.gates();
  return bytes;
}

/** CPU of all processes for a step, µs. */
async function stepCost(product: Product, runs: number): Promise<number> {
  const { pids } = product;
  const before = each(pids, cpuUs);
  await runTrips(product, 'one', inFlight, runs);
  const after = each(pids, cpuUs);
  return Object.keys(pids).reduce((us, name) => us + (after[name] ?? 0) - (before[name] ?? 0), 0) / runs;
}

/** CPU a step takes while ten runs are alive, µs. */
export const stepCostFew = async (session: Session): Promise<number> => session.stepCost();

/** The same while 10,000 runs wait. */
export async function stepCostMany(session: Session): Promise<number> {
  const product = await session.workflows();
  await session.gates();
  return stepCost(product, session.sizes.runs);
}

export { stepCost };

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

export const timerBytes = async (session: Session): Promise<number> => (await session.timers()).bytes;
export const timerRate = async (session: Session): Promise<number> => (await session.timers()).rate;
