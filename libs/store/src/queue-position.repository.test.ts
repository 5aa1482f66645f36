import { openQueue } from '@svc/queues';
import { queues } from '@svc/queues.config';
import type { JobRecord } from './index';
import { buildKeys } from './keys';
import { useStore } from './store.testing';

const shard = 's1';
const keys = buildKeys(shard);
const use = useStore({ shard });

const getPosition = async (id: string) => {
  const job = await use.store.jobs.load(id);
  if (!job) throw new Error(`there is no job ${id}`);
  return use.store.queuePositions.of(job);
};

const admit = (id: string, over: { level?: number; worker?: string; licenseCap?: number; set?: Partial<JobRecord> } = {}) =>
  use.store.jobs.admit(id, {
    lane: { id: 'job.default', spec: '{}', level: over.level ?? 2 },
    ...(over.worker && { worker: { id: over.worker, pool: 'main', max: 0 } }),
    dispatchId: `d-${id}`,
    reason: 'no_workers',
    runMs: 60_000,
    deadlineMs: 0,
    tenantCap: 0,
    licenseCap: over.licenseCap ?? 0,
    waitMs: 60_000,
    set: over.set ?? {},
  }); // prettier-ignore

describe('the queue entry of a job', () => {
  it('waits, with or without others ahead, possibly in a paused queue', async () => {
    await use.accept('first');
    await use.accept('second');

    expect((await getPosition('first')).entry).toEqual({
      queue: 'jobs',
      at: 'waiting',
      hasOthersBefore: false,
      isPaused: false,
    });
    const queue = openQueue(queues.jobs, { url: use.redisUrl }, shard);
    await queue.pause();
    await queue.close();

    expect((await getPosition('second')).entry).toMatchObject({ hasOthersBefore: true, isPaused: true, at: 'waiting' });
  });

  it('is delayed until the due time stored by BullMQ', async () => {
    await use.accept('a:b');
    await admit('a:b');
    const queue = openQueue(queues.jobWaiting, { url: use.redisUrl }, shard);
    const [queued] = await queue.getDelayed();
    await queue.close();

    const { entry } = await getPosition('a:b');

    expect(entry).toMatchObject({ queue: 'jobWaiting', at: 'delayed' });
    expect(entry.dueMs).toBe((queued?.timestamp ?? 0) + (queued?.delay ?? 0));
  });

  it('may be active, failed or lost', async () => {
    for (const id of ['taken', 'failed', 'lost']) await use.accept(id);
    const readEntryId = async (id: string) => (await use.redis.hget(keys.job(id), 'entry')) ?? '';
    for (const id of ['taken', 'failed', 'lost']) {
      await use.redis.zrem(keys.queue('jobs', 'prioritized'), await readEntryId(id));
    }
    await use.redis.zadd(keys.queue('jobs', 'failed'), 1, await readEntryId('failed'));
    await use.redis.del(keys.queue('jobs', await readEntryId('lost')));

    const positions = await Promise.all(['taken', 'failed', 'lost'].map(getPosition));

    expect(positions.map(({ entry }) => entry.at)).toEqual(['taken', 'failed', 'absent']);
  });
});

describe('the position in a lane', () => {
  it('counts jobs of the same tenant, and only reports whether other tenants have any', async () => {
    await use.accept('own-critical');
    await use.accept('own-earlier');
    await use.accept('mine');
    await use.accept('other', { tenant: 'globex' });
    await admit('own-critical', { level: 1 });
    for (const id of ['own-earlier', 'mine', 'other']) await admit(id);

    expect((await getPosition('mine')).lane).toMatchObject({ level: 2, ownBefore: 2, hasOthersBefore: false });
    expect((await getPosition('other')).lane).toMatchObject({
      ownBefore: 0,
      hasOthersBefore: true,
      isOutOfTurn: false,
    });
  });

  it('is out of turn while its tenant is at its limit', async () => {
    await use.accept('capped');
    await admit('capped');
    await use.redis.zadd(keys.laneFull('job.default', '2'), 1, 'acme');

    expect((await getPosition('capped')).lane?.isOutOfTurn).toBe(true);
  });
});

describe('the count of in-flight jobs', () => {
  it('is per tenant, and in total for the license', async () => {
    await use.accept('one');
    await use.accept('two', { tenant: 'globex' });
    await use.accept('mine');
    await admit('one', { worker: 'w1', licenseCap: 5 });
    await admit('two', { worker: 'w1', licenseCap: 5 });

    expect(await getPosition('mine')).toMatchObject({ tenantInFlight: 1, allInFlight: 2 });
    expect(await getPosition('mine')).not.toHaveProperty('lane');
  });
});
