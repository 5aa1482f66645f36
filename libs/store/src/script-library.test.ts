import { Redis } from 'ioredis';
import { queues } from '@svc/queues.config';
import { openStore } from './store';
import { useStore } from './store.testing';

describe('the functions of the store', () => {
  const using = useStore();
  const libraries = async (redis: Redis) =>
    ((await redis.function('LIST', 'LIBRARYNAME', 'svc_*')) as unknown[][]).map((fields) => String(fields[1]));

  it('are reloaded when Redis has lost them, for all concurrent calls, and no call runs twice', async () => {
    await using.redis.function('FLUSH');

    await Promise.all(['a', 'b', 'c'].map((id) => using.accept(id)));

    expect(await libraries(using.redis)).toHaveLength(1);
    expect(await using.store.jobs.events('b')).toHaveLength(1);
  });

  it('of another version are removed, and reloaded by a process that still uses them', async () => {
    const redis = new Redis(using.redisUrl);
    const other = openStore(
      redis,
      { ...queues, jobs: { ...queues.jobs, name: 'jobs-of-another-version' } },
      {
        metaSec: 60,
        dataSec: 60,
      },
    );
    try {
      await using.accept('a');
      const [ours] = await libraries(using.redis);
      await other.jobs.move('*', 'a', 'cancel', { set: { error_message: 'by the other version' } });
      const [theirs, ...more] = await libraries(using.redis);
      expect({ theirs, more }).toEqual({ theirs: expect.not.stringMatching(String(ours)) as unknown, more: [] });

      await using.accept('b');

      expect(await using.store.jobs.load('a')).toMatchObject({ state: 'CANCELLED' });
      expect(await using.store.jobs.load('b')).toMatchObject({ state: 'PENDING' });
      expect(await libraries(using.redis)).toEqual([ours]);
    } finally {
      redis.disconnect();
    }
  });

  it('write nothing when memory is full, while records stay readable', async () => {
    await using.accept('a');
    await using.redis.config('SET', 'maxmemory', '1');
    try {
      await expect(using.store.jobs.move('*', 'a', 'cancel')).rejects.toThrow(/^OOM /);
      expect(await using.store.jobs.load('a')).toMatchObject({ state: 'PENDING' });
    } finally {
      await using.redis.config('SET', 'maxmemory', '0');
    }
    expect(await using.store.jobs.move('*', 'a', 'cancel')).toMatchObject({ kind: 'moved' });
  });
});
