import { openQueue } from '@svc/queues';
import { queues } from '@svc/queues.config';
import { plainRequest } from '@svc/testing';
import { useStore } from './store.testing';

const shard = 's0';
const use = useStore({ shard });

const accept = (id: string, tenant: string, over: { priority?: number; turnCost?: number } = {}) =>
  use.store.jobs.accept({
    id,
    tenant,
    traceId: id,
    topic: 'job.default',
    fields: { request: plainRequest, submitter: 'ann', job_hash: 'h', deadline_ms: 0 },
    context: '{}',
    priority: 10,
    activeLimit: 0,
    ...over,
  });
const ids = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(3, '0')}`);

/** Undecided jobs in the order in which the scheduler gets them. */
async function order(): Promise<string[]> {
  const prefix = use.store.keys.queue('jobs', '');
  const entries = await use.redis.zrange(`${prefix}prioritized`, 0, '-1');
  return entries.map((entry) => entry.replace(/^job-|-submit$/g, ''));
}

describe('the queue of undecided jobs', () => {
  it('tenants take turns: a job does not wait for the backlog of another tenant', async () => {
    for (const id of ids('flood', 100)) await accept(id, 'acme');
    for (const id of ids('other', 3)) await accept(id, 'globex');

    const positions = (await order()).flatMap((id, at) => (id.startsWith('other') ? [at] : []));
    expect(Math.max(...positions)).toBeLessThanOrEqual(6);
    expect((await order()).filter((id) => id.startsWith('flood'))).toEqual(ids('flood', 100));
  });

  it('a late tenant starts at the head, also after the others have taken many turns', async () => {
    for (const id of ids('flood', 50)) await accept(id, 'acme');
    const queue = use.store.keys.queue('jobs', 'prioritized');
    await use.redis.zremrangebyrank(queue, 0, 29);
    await accept('late', 'globex');

    expect((await order()).indexOf('late')).toBeLessThanOrEqual(2);
  });

  it('a tenant of weight 4 gets four turns for one of another', async () => {
    await accept('first', 'initech');
    for (let i = 0; i < 20; i++) {
      await accept(`heavy${i}`, 'acme', { turnCost: 0.25 });
      await accept(`light${i}`, 'globex');
    }

    const start = (await order()).slice(0, 16);
    expect(start.filter((id) => id.startsWith('heavy')).length).toBeGreaterThanOrEqual(11);
  });

  it('priority comes before turns, and entries that BullMQ adds after a delay do not pass the others', async () => {
    for (const id of ids('flood', 20)) await accept(id, 'acme');
    await use.redis.zremrangebyrank(use.store.keys.queue('jobs', 'prioritized'), 0, 9);
    await accept('other', 'globex');
    await accept('critical', 'globex', { priority: 1 });
    const queue = openQueue(queues.jobs, use.redis, shard);
    await queue.add('job.default', { job_id: 'delayed' }, { jobId: 'job-delayed', priority: 10 });
    await queue.close();

    const found = await order();
    expect(found[0]).toBe('critical');
    expect(found.indexOf('delayed')).toBeGreaterThan(found.indexOf('other'));
    expect(found.indexOf('delayed')).toBeLessThanOrEqual(6);
  });
});
