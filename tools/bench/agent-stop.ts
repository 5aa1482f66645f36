import { decodePacket, subjects } from '@svc/contract';
import { parseServerList } from '@svc/jetstream';
import { keys } from '@svc/store';
import { eventually } from '@svc/testing';
import { createWorker } from '@svc/worker-sdk';
import { connect } from 'nats';
import type { Product } from './product';

/** Topic of a pool that the worker of the drains does not belong to. */
const topic = 'job.demo.render';
const SUBMITTERS = 32;
const WAIT = { withinMs: 60_000, everyMs: 50 };

/**
 * Milliseconds from the request that suspends an agent to the cancel packet of each of its running jobs, after which the
 * record of the job says CANCELLED.
 */
export async function agentStopTimes(product: Product, count: number): Promise<number[]> {
  const { nats_url: natsUrl, redis_url: redisUrl } = product.stack.info;
  const { servers, credentials } = parseServerList(natsUrl);
  const connection = await connect({ servers, ...credentials });
  const worker = createWorker({
    ...{ id: 'bench-agent', pool: 'gpu', capabilities: ['gpu'], natsUrl, redisUrl, concurrency: count, signals: [] },
    topics: { [topic]: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cancelled')))) },
  }); // prettier-ignore
  await worker.start();
  try {
    const agent = await send<{ id: string }>(product, 'POST', '/api/v1/agents', {
      ...{ name: 'bench', owner: 'bench', risk_tier: 'low' },
      ...{ allowed_topics: ['*'], allowed_pools: ['*'] },
    });
    const jobs = await submitAll(product, agent.id, count);
    await eventually(async () => {
      const states = await product.redis.zcard(keys.jobsInState(product.stack.info.tenant, 'RUNNING'));
      if (states < count) throw new Error(`${states} of ${count} jobs are running`);
    }, WAIT);
    const atMs = new Map<string, number>();
    connection.subscribe(subjects.jobCancel.name, {
      callback: (error, message) => {
        const decoded = error ? undefined : decodePacket(message.data);
        if (decoded?.kind !== 'ok' || decoded.packet.kind !== 'job_cancel') return;
        atMs.set(decoded.packet.body.job_id, performance.now());
      },
    });
    await connection.flush();
    const startedMs = performance.now();
    await send(product, 'PUT', `/api/v1/agents/${agent.id}`, { status: 'suspended' });
    await eventually(() => {
      if (atMs.size < count) throw new Error(`${atMs.size} of ${count} jobs were cancelled`);
    }, WAIT);
    return jobs.map((id) => (atMs.get(id) ?? Infinity) - startedMs);
  } finally {
    await worker.stop();
    await connection.close();
  }
}

async function submitAll(product: Product, agentId: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  let left = count;
  const submitter = async () => {
    while (left-- > 0) {
      const job = { topic, prompt: 'wait' };
      const { job_id: id } = await send<{ job_id: string }>(product, 'POST', '/api/v1/jobs', job, agentId);
      ids.push(id);
    }
  };
  await Promise.all(Array.from({ length: SUBMITTERS }, submitter));
  return ids;
}

async function send<Answer>(product: Product, method: string, path: string, body: object, agentId?: string) {
  const { base_url: base, keys: known } = product.stack.info;
  const headers = {
    ...{ 'X-API-Key': known.admin, 'Content-Type': 'application/json' },
    ...(agentId !== undefined && { 'X-Agent-Id': agentId }),
  };
  const answer = await fetch(base + path, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}
