import type { JobEvent } from '@svc/lifecycle';
import { Fenced, buildKeys, type MoveExtras } from './index';
import { useRuns } from './run.testing';

const shard = 's1';
const keys = buildKeys(shard);
const use = useRuns({ shard });
const jobs = () => use.store.jobs;
const ended = (jobId: string): unknown => expect.objectContaining({ kind: 'jobEnded', jobId });
const passes = (id: string) => use.redis.hget(keys.run(id), 'wakes');

/** A run that sleeps after its first pass, for an event to wake it. */
const asleep = async (id: string) => {
  await use.begin(id);
  await use.save(id, 1, { processedEvents: 1 });
  await use.store.runs.close(id, 'me', 'go_on');
};
const moved = async (id: string, events: readonly JobEvent[], extras: MoveExtras = {}) => {
  for (const event of events) {
    const isLast = event === events.at(-1);
    expect(await jobs().move('*', id, event, isLast ? extras : {})).toMatchObject({ kind: 'moved' });
  }
};

describe('a job of a run', () => {
  it.each<[JobEvent, JobEvent[]]>([
    ['succeed', ['dispatch', 'start', 'succeed']],
    ['fail', ['dispatch', 'fail']],
    ['timeOut', ['dispatch', 'start', 'timeOut']],
    ['cancel', ['cancel']],
    ['cancel', ['dispatch', 'retry', 'cancel']],
    ['deny', ['hold', 'deny']],
  ])('notifies it of its end once: %s after %j', async (_, events) => {
    await asleep('r1');
    await use.accept('r1:weigh@1', 'r1', 'weigh');

    await moved('r1:weigh@1', events.slice(0, -1));
    expect(await use.inbox('r1')).toEqual([]);
    await moved('r1:weigh@1', events.slice(-1));
    const late = await Promise.all(
      (['succeed', 'cancel'] as const).map((late) => jobs().move('*', 'r1:weigh@1', late)),
    );

    expect(late).toMatchObject([{ kind: 'refused' }, { kind: 'refused' }]);
    expect([await use.inbox('r1'), await passes('r1')]).toEqual([[ended('r1:weigh@1')], '2']);
  });

  it('notifies it of a denial on creation', async () => {
    await asleep('r1');

    await use.accept('j', 'r1', 'weigh', { next: { event: 'deny', extras: {} } });

    expect(await use.inbox('r1')).toEqual([ended('j')]);
    expect((await jobs().load('j'))?.state).toBe('DENIED');
  });

  it('reports its status, with a small result', async () => {
    await asleep('r1');
    for (const [id, body] of [
      ['small', '{"kg":7}'],
      ['large', JSON.stringify('x'.repeat(9_000))],
    ] as const) {
      await use.accept(id, 'r1', id);
      await use.redis.set(keys.result(id), body);
      await use.store.jobs.move('*', id, 'dispatch');
      await use.store.jobs.move('*', id, 'succeed', { set: { result_ptr: `redis://${keys.result(id)}` } });
    }
    await use.accept('bad', 'r1', 'bad');
    await use.store.jobs.move('*', 'bad', 'refuse', { set: { error_code: 'no', error_message: 'not so' } });

    const end = { kind: 'jobEnded', state: 'SUCCEEDED' };
    expect(await use.inbox('r1')).toEqual([
      { ...end, jobId: 'small', result_ptr: 'redis://res:small', body: '{"kg":7}' },
      { ...end, jobId: 'large', result_ptr: 'redis://res:large' },
      { ...end, jobId: 'bad', state: 'FAILED', error_code: 'no', error_message: 'not so' },
    ]);
  });

  it('that has ended and is then quarantined notifies it again', async () => {
    await asleep('r1');
    await use.accept('j', 'r1', 'weigh');

    await moved('j', ['dispatch', 'succeed', 'quarantine']);

    expect(await use.inbox('r1')).toEqual([ended('j'), ended('j')]);
  });

  it('delivers events of transitions before its end', async () => {
    await asleep('r1');
    await use.accept('j', 'r1', 'weigh');
    const post = (n: number) => ({ post: JSON.stringify({ kind: 'posted', n }) });

    await moved('j', ['hold'], post(1));
    await jobs().note('j', { states: ['APPROVAL_REQUIRED'], ...post(2) }, {});
    await jobs().note('j', { states: ['RUNNING'], ...post(3) }, {});
    await jobs().move('*', 'j', 'start', post(4));
    await moved('j', ['deny'], post(5));

    expect(await use.inbox('r1')).toEqual([
      { kind: 'posted', n: 1 },
      { kind: 'posted', n: 2 },
      { kind: 'posted', n: 5 },
      ended('j'),
    ]);
  });

  it('notifies it as a compensation, outside of any tree', async () => {
    await asleep('r1');
    await use.accept('j', 'r1');
    expect(await use.redis.keys('*workflow-steps*')).toEqual([]);

    await moved('j', ['cancel']);

    expect(await use.inbox('r1')).toEqual([ended('j')]);
  });

  it('is not created without the lock of its run, nor is a child run', async () => {
    await use.begin('r1');
    const as = (owner: string) => ({ fence: { run: 'r1', owner } });

    await expect(use.accept('late', 'r1', 'weigh', as('another'))).rejects.toThrow(Fenced);
    await expect(use.create('late', as('another'))).rejects.toThrow(Fenced);
    await use.redis.del(keys.runLock('r1'));
    await expect(use.accept('late', 'r1', 'weigh', as('me'))).rejects.toThrow(Fenced);

    expect([await jobs().load('late'), await use.store.runs.load('late')]).toEqual([undefined, undefined]);
    await use.lock('r1');
    await use.accept('now', 'r1', 'weigh', as('me'));
    expect(await use.create('part', as('me'))).toMatchObject({ kind: 'created' });
  });

  it('has the id of its run and the path of its step', async () => {
    await use.accept('j', 'r1', 'weigh[2]');

    expect(await jobs().load('j')).toMatchObject({ run: 'r1', run_path: 'weigh[2]' });
  });

  it('ends normally when its run is missing or has ended, and leaves no keys', async () => {
    await use.begin('over');
    await use.end('over');
    const before = (await use.redis.keys('*wf:run*')).concat(await use.redis.keys('*workflow-*')).sort();

    for (const run of ['over', 'nowhere']) {
      await use.accept(`job-of-${run}`, run, 'weigh');
      await moved(`job-of-${run}`, ['dispatch', 'succeed'], { post: '{"kind":"posted"}' });
    }

    expect((await use.redis.keys('*wf:run*')).concat(await use.redis.keys('*workflow-*')).sort()).toEqual(before);
    expect(await passes('over')).toBe('1');
  });
});
