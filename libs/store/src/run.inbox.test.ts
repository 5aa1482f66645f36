import { queues } from '@svc/queues.config';
import { buildKeys, type RunCreation } from './index';
import { useRuns } from './run.testing';

const shard = 's1';
const keys = buildKeys(shard);
const use = useRuns({ shard });
const runs = () => use.store.runs;
const open = (id: string, owner = 'me', limit = 100) => runs().open(id, owner, 60_000, limit);
const kinds = (outcomes: { kind: string }[]) => outcomes.map(({ kind }) => kind);
const many = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));
const nth = (n: number) => ({ kind: 'poked', n });

const pass = (part: string) => keys.queue(queues.runPasses.name, part);
const loseEntry = async (entry: string) => {
  await use.redis.lrem(pass('wait'), 0, entry);
  await use.redis.del(pass(entry));
};

/** Creates a run and takes it through its first pass: it sleeps, with nothing in its inbox, and its lock is free. */
const asleep = async (id: string, over: Partial<RunCreation> = {}) => {
  await use.begin(id, over);
  await use.save(id, 1, { processedEvents: 1 });
  expect(await runs().close(id, 'me', 'go_on')).toBe('asleep');
  await loseEntry(`run-${id}-1`);
};
const lock = (id: string) => use.redis.get(keys.runLock(id));

describe('an event', () => {
  it('is stored in order, and one of many concurrent events wakes the run', async () => {
    await asleep('r1');

    const outcomes = await many(30, (n) => runs().post('*', 'r1', nth(n)));

    expect(new Set(kinds(outcomes))).toEqual(new Set(['posted']));
    expect(await use.inbox('r1')).toEqual(Array.from({ length: 30 }, (_, n) => nth(n)));
    expect(await use.passes()).toEqual(['run-r1-2']);
  });

  it('adds no entry while the run is awake, and one after it slept again', async () => {
    await use.create('r1');
    await runs().post('*', 'r1', nth(1));
    expect(await use.passes()).toEqual(['run-r1-1']);

    await open('r1');
    await use.save('r1', 1, { processedEvents: 2 });
    await runs().close('r1', 'me', 'go_on');
    await many(2, (n) => runs().post('*', 'r1', nth(n)));

    expect(await use.passes()).toEqual(['run-r1-1', 'run-r1-2']);
  });

  it('is delivered only to a run of its tenant and workflow', async () => {
    await asleep('r1');

    expect([
      await runs().post('rival', 'r1', nth(1)),
      await runs().post('acme', 'r1', nth(1), 'other'),
      await runs().post('acme', 'r2', nth(1)),
    ]).toEqual([{ kind: 'other_tenant' }, { kind: 'missing' }, { kind: 'missing' }]);
    expect([await use.inbox('r1'), await use.passes()]).toEqual([[], []]);
    expect(await runs().post('acme', 'r1', nth(1), 'cargo')).toEqual({ kind: 'posted' });
  });

  it('is rejected by an ended run, whose inbox is empty', async () => {
    await use.begin('r1');
    await runs().post('*', 'r1', nth(1));
    await use.end('r1', 1, { processedEvents: 1 });

    expect(await runs().post('*', 'r1', nth(2))).toEqual({ kind: 'ended', status: 'succeeded' });
    expect(await use.redis.exists(keys.runInbox('r1'))).toBe(0);
    expect(await runs().close('r1', 'me', 'go_on')).toBe('asleep');
    expect(await use.passes()).toEqual(['run-r1-1']);
  });
});

describe('opening a pass', () => {
  it('returns the oldest events in order, and the state of the run', async () => {
    await use.create('r1');
    for (const n of [1, 2, 3]) await runs().post('*', 'r1', nth(n));

    const opened = await open('r1', 'me', 3);

    expect(opened).toEqual({
      kind: 'open',
      nowUs: expect.any(Number) as number,
      revision: 1,
      status: 'pending',
      hasEnded: false,
      acting: false,
      events: [{ kind: 'start' }, nth(1), nth(2)],
    });
    expect(await use.inbox('r1')).toHaveLength(4);
    expect(await open('unknown')).toEqual({ kind: 'missing' });
    expect(await lock('unknown')).toBeNull();
  });

  it('succeeds for one of many owners, who may open it again', async () => {
    await use.create('r1');

    const outcomes = await many(10, (i) => open('r1', `engine-${i}`));

    expect(kinds(outcomes).sort()).toEqual([...Array<string>(9).fill('busy'), 'open']);
    const owner = `engine-${kinds(outcomes).indexOf('open')}`;
    expect([await lock('r1'), (await open('r1', owner)).kind]).toEqual([owner, 'open']);
  });

  it('acquires the lock for the requested time', async () => {
    await use.create('r1');
    await runs().open('r1', 'me', 5_000, 10);

    const leftMs = await use.redis.pttl(keys.runLock('r1'));
    expect([leftMs > 0, leftMs <= 5_000]).toEqual([true, true]);
  });

  it('reports a run that has ended', async () => {
    await use.begin('r1');
    await use.end('r1');

    expect(await open('r1')).toMatchObject({ status: 'succeeded', hasEnded: true, revision: 2, events: [] });
  });
});

describe('a saved pass', () => {
  it('removes exactly the events it processed, and no more when it is repeated', async () => {
    await use.begin('r1');
    for (const n of [1, 2, 3]) await runs().post('*', 'r1', nth(n));

    const first = await use.save('r1', 1, { processedEvents: 2, token: 'once' });
    await runs().post('*', 'r1', nth(4));
    const again = await use.save('r1', 1, { processedEvents: 2, token: 'once' });

    expect([first, again]).toMatchObject([
      { kind: 'saved', revision: 2, left: 2 },
      { kind: 'saved', revision: 2, left: 3 },
    ]);
    expect(await use.inbox('r1')).toEqual([nth(2), nth(3), nth(4)]);
  });

  it('that is rejected removes nothing', async () => {
    await use.begin('r1');

    expect(
      kinds([
        await use.save('r1', 7, { processedEvents: 1 }),
        await use.save('r1', 1, { processedEvents: 1, owner: 'x' }),
      ]),
    ).toEqual(['changed', 'fenced']);
    expect(await use.inbox('r1')).toHaveLength(1);
  });

  it('has pending effects until it is closed, by any owner', async () => {
    await use.begin('r1');
    await use.save('r1', 1, { processedEvents: 1, acting: true });
    await use.redis.del(keys.runLock('r1'));

    expect(await open('r1', 'next')).toMatchObject({ acting: true, events: [], revision: 2 });
    expect(await runs().close('r1', 'next', 'pause')).toBe('paused');
    expect(await open('r1', 'third')).toMatchObject({ acting: true });
    await runs().close('r1', 'third', 'go_on');
    expect(await open('r1', 'third')).toMatchObject({ acting: false });
  });

  it('has no pending effects after a later save without any', async () => {
    await use.begin('r1');
    await use.save('r1', 1, { acting: true });
    await use.save('r1', 2);

    expect(await open('r1')).toMatchObject({ acting: false });
  });
});

describe('a saved pass without effects', () => {
  it('closes itself when the inbox is empty, also when it is repeated', async () => {
    await use.begin('r1');

    const saves = [1, 2].map(() => use.save('r1', 1, { processedEvents: 1, closes: true, token: 'once' }));

    expect(await Promise.all(saves)).toMatchObject([
      { kind: 'saved', sleeps: true },
      { kind: 'saved', sleeps: true },
    ]);
    expect(await lock('r1')).toBeNull();
    await runs().post('*', 'r1', nth(1));
    expect((await open('r1', 'next')).kind).toBe('open');
  });

  it('stays open for events that arrived in between', async () => {
    await use.begin('r1');
    await runs().post('*', 'r1', nth(1));

    expect(await use.save('r1', 1, { processedEvents: 1, closes: true })).toMatchObject({ sleeps: false, left: 1 });
    expect(await lock('r1')).toBe('me');
  });
});

describe('closing a pass', () => {
  it('lets the run sleep when its inbox is empty: no lock, and the next event wakes it', async () => {
    await use.begin('r1');
    await use.save('r1', 1, { processedEvents: 1 });

    expect(await runs().close('r1', 'me', 'give_way')).toBe('asleep');

    expect(await lock('r1')).toBeNull();
    expect(await use.passes()).toEqual(['run-r1-1']);
    await runs().post('*', 'r1', nth(1));
    expect(await use.passes()).toEqual(['run-r1-1', 'run-r1-2']);
  });

  it('keeps the lock for events that arrived between save and close', async () => {
    await use.begin('r1');
    await use.save('r1', 1, { processedEvents: 1 });
    await runs().post('*', 'r1', nth(1));

    expect(await runs().close('r1', 'me', 'go_on')).toBe('more');

    expect([await lock('r1'), await use.passes()]).toEqual(['me', ['run-r1-1']]);
    expect(await open('r1')).toMatchObject({ events: [nth(1)] });
  });

  it('yields to other runs with an entry behind theirs', async () => {
    await use.begin('r1');
    await use.create('r2');

    expect(await runs().close('r1', 'me', 'give_way')).toBe('gave_way');

    expect(await lock('r1')).toBeNull();
    expect(await use.passes()).toEqual(['run-r1-1', 'run-r2-1', 'run-r1-2']);
    await runs().post('*', 'r1', nth(1));
    expect(await use.passes()).toHaveLength(3);
  });

  it('keeps a paused run awake, with its pending effects and no additional entry', async () => {
    await use.begin('r1');
    await use.save('r1', 1, { processedEvents: 1, acting: true });

    expect(await runs().close('r1', 'me', 'pause')).toBe('paused');

    expect([await lock('r1'), await use.passes()]).toEqual([null, ['run-r1-1']]);
    await runs().post('*', 'r1', nth(1));
    expect(await use.passes()).toEqual(['run-r1-1']);
  });

  it.each(['go_on', 'give_way', 'pause'] as const)(
    'changes nothing for an owner that lost the lock: %s',
    async (next) => {
      await use.begin('r1');
      await use.save('r1', 1, { processedEvents: 1, acting: true });
      await use.redis.set(keys.runLock('r1'), 'another');
      const before = await use.redis.hgetall(keys.run('r1'));

      expect(await runs().close('r1', 'me', next)).toBe('fenced');

      expect(await use.redis.hgetall(keys.run('r1'))).toEqual(before);
      expect([await lock('r1'), await use.passes()]).toEqual(['another', ['run-r1-1']]);
    },
  );

  it('loses no event that arrives while passes open, save and close', async () => {
    await use.create('r1');
    let isPosting = true;
    const posting = many(40, (n) => runs().post('*', 'r1', nth(n))).finally(() => (isPosting = false));
    const received: unknown[] = [];
    const processEvents = async (): Promise<void> => {
      const opened = await open('r1', 'me', 3);
      if (opened.kind !== 'open') throw new Error(opened.kind);
      received.push(...opened.events);
      await use.save('r1', opened.revision, { processedEvents: opened.events.length, token: `t${received.length}` });
      if ((await runs().close('r1', 'me', 'go_on')) === 'more') await processEvents();
    };

    // An engine processes a run only for a queue entry.
    for (let taken = 0; isPosting || taken < (await use.passes()).length;) {
      if (taken >= (await use.passes()).length) continue;
      taken += 1;
      await processEvents();
    }
    await posting;

    expect(received).toEqual([{ kind: 'start' }, ...Array.from({ length: 40 }, (_, n) => nth(n))]);
  });
});

describe('repairing the queue entry of a run', () => {
  const failEntry = async (entry: string, agoMs: number) => {
    await use.redis.lrem(pass('wait'), 0, entry);
    await use.redis.zadd(pass('failed'), Date.now() - agoMs, entry);
  };

  it('replaces a lost entry once', async () => {
    await use.create('r1');
    await loseEntry('run-r1-1');

    const outcomes = await many(5, () => runs().requeue('r1', 60_000, 60_000));

    expect(outcomes.sort()).toEqual(['queued', 'queued', 'queued', 'queued', 'requeued']);
    expect(await use.passes()).toEqual(['run-r1-2']);
    expect(await use.redis.hget(pass('run-r1-2'), 'data')).toBe('{"run_id":"r1"}');
  });

  it('does not change a run that has its entry, sleeps or does not exist', async () => {
    await use.create('r1');
    await asleep('r2');

    expect(await Promise.all(['r1', 'r2', 'r3'].map((id) => runs().requeue(id, 60_000, 60_000)))).toEqual([
      'queued',
      'asleep',
      'missing',
    ]);
    expect(await use.passes()).toEqual(['run-r1-1']);
  });

  it('replaces a failed entry after a pause', async () => {
    await use.create('r1');
    await failEntry('run-r1-1', 5_000);

    expect([await runs().requeue('r1', 60_000, 60_000), await use.passes()]).toEqual(['queued', []]);
    expect([await runs().requeue('r1', 1_000, 60_000), await use.passes()]).toEqual(['requeued', ['run-r1-2']]);
    expect(await use.redis.exists(pass('failed'), pass('run-r1-1'))).toBe(0);
  });

  it('replaces an entry delayed by a clock that is ahead, and keeps one with a short delay', async () => {
    await use.create('r1');
    const putOff = async (ms: number) => {
      await use.redis.lrem(pass('wait'), 0, 'run-r1-1');
      await use.redis.zadd(pass('delayed'), (Date.now() + ms) * 0x1000, 'run-r1-1');
    };

    await putOff(1_000);
    expect(await runs().requeue('r1', 60_000, 60_000)).toBe('queued');
    await putOff(3_600_000);
    expect([await runs().requeue('r1', 60_000, 60_000), await use.passes()]).toEqual(['requeued', ['run-r1-2']]);
    expect(await use.redis.exists(pass('delayed'), pass('run-r1-1'))).toBe(0);
  });

  it('entries delayed by a clock that is ahead are removed, also those of ended runs', async () => {
    await use.create('r1');
    const putOff = (entry: string, ms: number) => use.redis.zadd(pass('delayed'), (Date.now() + ms) * 0x1000, entry);
    await putOff('run-r1-1', 1_000);
    await putOff('run-ended-7', 3_600_000);

    const drop = () => use.store.runIndex.dropMisdatedPasses(10);

    expect([await drop(), await drop()]).toEqual([1, 0]);
    expect(await use.redis.zrange(pass('delayed'), '0', '-1')).toEqual(['run-r1-1']);
  });

  it('wakes a run marked asleep that has work', async () => {
    await asleep('r1');
    await use.redis.rpush(keys.runInbox('r1'), '{}');
    await asleep('r2');
    await use.redis.hset(keys.run('r2'), 'acting', '1');

    expect([await runs().requeue('r1', 60_000, 60_000), await runs().requeue('r2', 60_000, 60_000)]).toEqual([
      'requeued',
      'requeued',
    ]);
    expect(await use.passes()).toEqual(['run-r1-2', 'run-r2-2']);
    await many(2, () => runs().post('*', 'r1', nth(1)));
    expect(await use.passes()).toHaveLength(2);
  });
});

describe('a run that sleeps for long', () => {
  it('gets one event per period to check its jobs and timers', async () => {
    await asleep('r1');
    await use.redis.hset(keys.run('r1'), 'updated_at', (Date.now() - 600_000) * 1_000);

    expect(await runs().requeue('r1', 60_000, 3_600_000)).toBe('asleep');
    const outcomes = await many(3, () => runs().requeue('r1', 60_000, 599_000));

    expect(outcomes.sort()).toEqual(['checking', 'queued', 'queued']);
    expect([await use.inbox('r1'), await use.passes()]).toEqual([[{ kind: 'look' }], ['run-r1-2']]);
  });

  it('gets none once it has ended', async () => {
    await use.begin('r1');
    await use.end('r1');
    await use.redis.hdel(keys.run('r1'), 'awake');
    await use.redis.hset(keys.run('r1'), 'updated_at', '1');

    expect(await runs().requeue('r1', 60_000, 1_000)).toBe('asleep');
    expect(await use.inbox('r1')).toEqual([]);
  });
});

describe('firing a timer', () => {
  const set = (id: string, dueMs: number) =>
    use.save(id, 1, { processedEvents: 1, timers: { set: [{ member: 'a:x', dueMs, queue: 'runTimers' }] } });
  const traces = () =>
    use.redis.exists(keys.runTimers('r1'), keys.delayTimers(), keys.queue(queues.runTimers.name, 'delayed'));

  it('is early before its due time, and then changes nothing', async () => {
    await use.begin('r1');
    await set('r1', Date.now() + 60_000);

    const early = await runs().fireTimer('r1', 'a:x');

    expect(early).toEqual({ kind: 'early', leftMs: expect.any(Number) as number });
    expect(early.kind === 'early' && early.leftMs > 0 && early.leftMs <= 60_000).toBe(true);
    expect([await use.inbox('r1'), await traces()]).toEqual([[], 3]);
  });

  it('adds one event for concurrent calls, and removes the timer completely', async () => {
    await asleep('r1');
    await use.lock('r1');
    await use.save('r1', 2, { timers: { set: [{ member: 'a:x', dueMs: 5, queue: 'runTimers' }] } });

    const outcomes = await many(10, () => runs().fireTimer('r1', 'a:x'));

    expect(kinds(outcomes).sort()).toEqual(['fired', ...Array<string>(9).fill('gone')]);
    expect(outcomes.find(({ kind }) => kind === 'fired')).toEqual({
      kind: 'fired',
      lateMs: expect.any(Number) as number,
    });
    expect(await use.inbox('r1')).toEqual([{ kind: 'timerFired', timerId: 'a:x' }]);
    expect([await use.passes(), await traces()]).toEqual([['run-r1-2'], 0]);
    expect(await use.redis.exists(keys.queue(queues.runTimers.name, 'run-r1-3-at-a~x'))).toBe(0);
  });

  it('returns gone after it was cleared or the run has ended', async () => {
    await use.begin('r1');
    await set('r1', 5);
    await use.save('r1', 2, { timers: { clear: ['a:x'] } });
    expect([await runs().fireTimer('r1', 'a:x'), await use.inbox('r1')]).toEqual([{ kind: 'gone' }, []]);

    await use.save('r1', 3, { timers: { set: [{ member: 'a:x', dueMs: 5, queue: 'runTimers' }] } });
    await use.end('r1', 4);
    expect(await runs().fireTimer('r1', 'a:x')).toEqual({ kind: 'gone' });
    expect(await runs().fireTimer('r2', 'a:x')).toEqual({ kind: 'gone' });
  });
});
