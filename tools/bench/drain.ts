import { isTerminal } from '@svc/lifecycle';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpLoad } from './http-load';
import { cpuUs, each } from './process-cost';
import { findFault } from './drain-fault';
import { Product } from './product';
import { commandCounts, sum } from './redis-counts';
import { stopwatch } from './statistics';

/** One batch of jobs, submitted while the scheduler is stopped and then drained by it. */
export interface Drain {
  jobs: number;
  /** Jobs accepted per second, over 64 connections. */
  submitRate: number;
  /** Jobs per second from the moment the scheduler resumes until the last job has ended and its output is scanned. */
  drainRate: number;
  /** Commands in Redis from the first submission to the last end, including those inside scripts. */
  commands: number;
  /** CPU µs by process over the same time. */
  cpuUs: Record<string, number>;
}

export interface DrainHooks {
  /** Called after all jobs are accepted and before the drain starts. */
  beforeDrain?(): Promise<void>;
  afterDrain?(): Promise<void>;
}

const connections = 64;
const lookEveryMs = 20;
const stuckAfterMs = 30_000;

/** @throws Error when a job is rejected, lost, executed twice or does not succeed, or a process died */
export async function runDrain(product: Product, jobs: number, hooks: DrainHooks = {}): Promise<Drain> {
  const load = await product.openLoad(connections);
  await product.workerCounts();
  const endedBefore = await product.ended();
  // A stopped scheduler takes no CPU from the gateway: the limit this is compared with has no second process either.
  product.freeze('scheduler');
  try {
    await product.redis.config('RESETSTAT');
    const { pids } = product;
    const cpuBefore = each(pids, cpuUs);
    const { ids, rate: submitRate } = await submit(product, load, jobs);
    const { open } = await product.unfinished();
    if (open !== jobs) throw new Error(`${jobs} jobs were accepted and ${open} are waiting`);
    await hooks.beforeDrain?.();

    const measureRate = stopwatch();
    product.thaw('scheduler');
    const looks = 1 + (await untilDrained(product));
    const drainRate = measureRate(jobs);

    const died = Object.keys(pids).find((name) => product.pids[name] !== pids[name]);
    if (died !== undefined) throw new Error(`${died} exited during the drain`);
    const cpuAfter = each(pids, cpuUs);
    const commands = sum(await commandCounts(product.redis)) - looks * Product.unfinishedCosts;
    await hooks.afterDrain?.();
    await check(product, ids, endedBefore);
    const used = Object.entries(cpuAfter).map(([name, us]) => [name, us - (cpuBefore[name] ?? 0)]);
    return { jobs, submitRate, drainRate, commands, cpuUs: Object.fromEntries(used) as Record<string, number> };
  } finally {
    product.thaw('scheduler');
    load.close();
  }
}

/** @throws Error when a response is not 200 */
export async function submit(product: Product, load: HttpLoad, jobs: number): Promise<{ ids: string[]; rate: number }> {
  const submission = product.submission();
  const bodies: string[] = [];
  const measureRate = stopwatch();
  await load.run(jobs, async (send) => {
    const { status, body } = await send(submission);
    if (status !== 200) throw new Error(`a submission got status ${status}: ${body}`);
    bodies.push(body);
  });
  const rate = measureRate(jobs);
  return { ids: bodies.map((body) => (JSON.parse(body) as { job_id: string }).job_id), rate };
}

/** @returns the number of polls. @throws Error when no more jobs end */
async function untilDrained(product: Product): Promise<number> {
  let least = Infinity;
  let sinceMs = performance.now();
  for (let looks = 1; ; looks++) {
    const { open, scans } = await product.unfinished();
    const left = open + scans;
    if (left === 0) return looks;
    if (left < least) {
      least = left;
      sinceMs = performance.now();
    }
    if (performance.now() - sinceMs > stuckAfterMs) {
      throw new Error(
        `${open} jobs did not end and ${scans} outputs were not scanned within ${stuckAfterMs / 1_000} s`,
      );
    }
    await sleep(lookEveryMs);
  }
}

/** Terminal states equal submissions: by the indexes, by each job's own history, and by the worker's count. */
async function check(product: Product, ids: readonly string[], before: Record<string, number>): Promise<void> {
  const after = await product.ended();
  const ended = Object.entries(after).map(([state, count]) => [state, count - (before[state] ?? 0)]);
  const fault = findFault({
    ids,
    ended: Object.fromEntries(ended) as Record<string, number>,
    ends: await countEnds(product, ids),
    worked: await product.workerCounts(),
  });
  if (fault !== undefined) throw new Error(fault);
}

/** How often each job entered a terminal state, by its own history. */
async function countEnds({ store }: Product, ids: readonly string[]): Promise<number[]> {
  const atOnce = 200;
  const ends: number[] = [];
  for (let from = 0; from < ids.length; from += atOnce) {
    const histories = await Promise.all(ids.slice(from, from + atOnce).map((id) => store.jobs.events(id)));
    ends.push(...histories.map((moves) => moves.filter(({ to }) => isTerminal(to)).length));
  }
  return ends;
}
