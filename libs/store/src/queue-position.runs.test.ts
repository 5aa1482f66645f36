import { openQueue } from '@svc/queues';
import { queues } from '@svc/queues.config';
import { buildKeys } from './keys';
import { useRuns } from './run.testing';

const shard = 's1';
const keys = buildKeys(shard);
const use = useRuns({ shard });
const positionOfRun = (id: string) => use.store.queuePositions.ofRun(id);

describe('the queue position of a run', () => {
  it('is due while it has work, and asleep afterwards', async () => {
    await use.create('r:1');

    expect(await positionOfRun('r:1')).toEqual({ entry: 'due', isPaused: false, inbox: 1 });
    await use.store.runs.open('r:1', 'me', 60_000, 10);
    await use.save('r:1', 1, { processedEvents: 1 });
    await use.store.runs.close('r:1', 'me', 'go_on');

    expect(await positionOfRun('r:1')).toEqual({ entry: 'asleep', isPaused: false, inbox: 0 });
  });

  it('may be lost or failed, in a paused queue', async () => {
    await use.create('lost');
    await use.create('failed');
    await use.redis.del(keys.queue('workflow-passes', 'run-lost-1'));
    await use.redis.zadd(keys.queue('workflow-passes', 'failed'), 1, 'run-failed-1');
    const queue = openQueue(queues.runPasses, { url: use.redisUrl }, shard);
    await queue.pause();
    await queue.close();

    expect(await positionOfRun('lost')).toMatchObject({ entry: 'lost', isPaused: true });
    expect(await positionOfRun('failed')).toMatchObject({ entry: 'failed' });
  });

  it('names its owner and the remaining lock time', async () => {
    await use.lock('run-1', 'engine-1');

    const { lock } = await positionOfRun('run-1');

    expect(lock?.owner).toBe('engine-1');
    expect(lock?.leftMs).toBeGreaterThan(30_000);
    expect((await positionOfRun('run-2')).lock).toBeUndefined();
  });
});
