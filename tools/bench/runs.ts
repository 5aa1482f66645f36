import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowDefinition } from '@svc/workflow';
import { benchTopic } from './submission';
import type { Product } from './product';
import type { RoundTrips } from './round-trips';

type Steps = WorkflowDefinition['steps'];

const job = (after?: string) => ({
  topic: benchTopic,
  input: { ship: '${input.ship}' },
  ...(after !== undefined && { depends_on: [after] }),
});

/** The workflows of the bench, by name. */
export const benchWorkflows = {
  one: { only: job() },
  three: { first: job(), second: job('first'), third: job('second') },
  fan: {
    all: { topic: benchTopic, for_each: 'input.items', input: { item: '${item}' } },
    join: { type: 'transform', depends_on: ['all'], input: { count: '${length(steps.all.output)}' } },
  },
  gate: {
    ask: { type: 'approval', input: { title: 'Shall it?' } },
    done: { type: 'transform', depends_on: ['ask'], input: { ok: true } },
  },
} as const satisfies Record<string, Steps>;
export type BenchWorkflow = keyof typeof benchWorkflows;

/** Concurrent jobs of one run in a fan-out. */
const fanAtOnce = 256;

/** Stores the workflows. @throws Error when one is rejected */
export async function postWorkflows(product: Product): Promise<void> {
  for (const [name, steps] of Object.entries(benchWorkflows)) {
    const config = { resources: { max_parallel_steps: fanAtOnce } };
    await post(product, '/api/v1/workflows', { id: `bench-${name}`, name, steps, config });
  }
}

/** @throws Error when it is rejected */
export async function post(product: Product, path: string, body: unknown, who: 'admin' | 'approver' = 'admin') {
  const load = await product.openLoad(1);
  try {
    const answer = await load.one(product.post(path, body, who));
    if (answer.status >= 300) throw new Error(`POST ${path} got status ${answer.status}: ${answer.body}`);
    return JSON.parse(answer.body) as Record<string, unknown>;
  } finally {
    load.close();
  }
}

type Send = Parameters<Parameters<Awaited<ReturnType<Product['openLoad']>>['run']>[1]>[0];

/** @returns the run id. @throws Error when it is not started */
export async function startRun(product: Product, send: Send, workflow: string, input: object): Promise<string> {
  const { status, body } = await send(product.post(`/api/v1/workflows/${workflow}/runs`, input));
  if (status !== 200) throw new Error(`a start got status ${status}: ${body}`);
  return (JSON.parse(body) as { run_id: string }).run_id;
}

/** Waits for the end of a run. @throws Error when it does not succeed */
export async function untilSucceeded(product: Product, send: Send, id: string): Promise<void> {
  for (let tries = 0; tries < 10; tries++) {
    const { body } = await send(product.get(`/api/v1/workflow-runs/${id}?wait_ms=20000`));
    const { status, error } = JSON.parse(body) as { status: string; error?: unknown };
    if (status === 'succeeded') return;
    if (['failed', 'denied', 'cancelled', 'timed_out'].includes(status)) {
      throw new Error(`run ${id} is ${status}: ${JSON.stringify(error)}`);
    }
  }
  throw new Error(`run ${id} did not end`);
}

/** Clients that start a run and wait for its end, one run each at a time. */
export async function runTrips(
  product: Product,
  workflow: BenchWorkflow,
  inFlight: number,
  count: number,
): Promise<RoundTrips> {
  const load = await product.openLoad(inFlight);
  const ms: number[] = [];
  const startedMs = performance.now();
  try {
    await load.run(count, async (send) => {
      const sentMs = performance.now();
      const id = await startRun(product, send, `bench-${workflow}`, { ship: 'Marguerite' });
      await untilSucceeded(product, send, id);
      ms.push(performance.now() - sentMs);
    });
    return { ms, rate: (count / (performance.now() - startedMs)) * 1_000 };
  } finally {
    load.close();
  }
}

/** Starts a run over a number of items, and waits for its end. */
export async function fanOutTrip(product: Product, count: number): Promise<void> {
  const load = await product.openLoad(1);
  try {
    const items = Array.from({ length: count }, (_, n) => n);
    await load.run(1, async (send) =>
      untilSucceeded(product, send, await startRun(product, send, 'bench-fan', { items })),
    );
  } finally {
    load.close();
  }
}

/** Starts runs that wait at an approval step. @returns their ids, once all wait */
export async function runsAtGate(product: Product, count: number): Promise<string[]> {
  const load = await product.openLoad(64);
  const held = await product.held();
  const ids: string[] = [];
  try {
    await load.run(count, async (send) => {
      ids.push(await startRun(product, send, 'bench-gate', {}));
    });
  } finally {
    load.close();
  }
  while ((await product.held()) < held + ids.length) await sleep(20);
  return ids;
}
