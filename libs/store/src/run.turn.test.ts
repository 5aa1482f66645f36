import { queues } from '@svc/queues.config';
import { eventually, plainRequest } from '@svc/testing';
import { Redis } from 'ioredis';
import { keys, RunWakes, type Placement, type RunSave, type RunWake, type SavedJob } from './index';
import { useRuns } from './run.testing';
import { waitingPlan } from './store.testing';

const use = useRuns();
const runs = () => use.store.runs;
const pass = (part: string) => keys.queue(queues.runPasses.name, part);
const delayed = () => use.redis.zrange(pass('delayed'), 0, '-1');

const place: Placement = { ...waitingPlan, snapshot: 's1', otherLanes: [], mayWait: true };
const worker = { id: 'w1', pool: 'p', max: 1 };
const job = (id: string, over: Partial<SavedJob> = {}): SavedJob => ({
  id,
  tenant: 'acme',
  traceId: 'r1',
  topic: 'job.default',
  fields: { request: plainRequest, submitter: 's', job_hash: 'h', run: 'r1', run_path: 'weigh', safety_snapshot: 's1' },
  context: `{"of":"${id}"}`,
  priority: 10,
  activeLimit: 0,
  ...over,
});

/** A turn without the lock: the only event of its inbox is processed. */
const turn = (revision: number, over: Partial<RunSave> = {}) =>
  runs().save({
    id: 'r1',
    revision,
    owner: 'e1:1',
    token: `e1:1:${revision}`,
    home: 'e1',
    isUnlocked: true,
    processedEvents: 1,
    closes: true,
    ...over,
  });

describe('a save with jobs', () => {
  beforeEach(() => use.redis.set(keys.policyInEffect(), 's1'));

  it('accepts and places them in the same call, after which nothing remains to be done', async () => {
    await use.begin('r1');

    const saved = await use.save('r1', 1, {
      processedEvents: 1,
      closes: true,
      jobs: [job('a', { place: { ...place, worker } }), job('b', { place: { ...place, worker } }), job('c')],
    });

    expect(saved).toMatchObject({
      sleeps: true,
      placed: [{ kind: 'dispatched', attempt: 1 }, { kind: 'waiting', reason: 'pool_overloaded' }, { kind: 'queued' }],
    });
    expect(await use.store.jobs.load('a')).toMatchObject({ state: 'DISPATCHED', run: 'r1', worker_id: 'w1' });
    expect(await use.redis.get(keys.context('b'))).toBe('{"of":"b"}');
    expect(await use.redis.hmget(keys.run('r1'), 'acting', 'awake')).toEqual(['0', null]);
  });

  it('keeps a job that exists', async () => {
    await use.begin('r1');
    await use.accept('a', 'r1', 'weigh', { context: '{"first":true}' });

    const saved = await use.save('r1', 1, { jobs: [job('a'), job('b')] });

    expect(saved).toMatchObject({ kind: 'saved', placed: [undefined, { kind: 'queued' }] });
    expect(await use.redis.get(keys.context('a'))).toBe('{"first":true}');
  });

  it('creates none when the save is refused, and none again when it is repeated', async () => {
    await use.begin('r1');

    expect(await use.save('r1', 7, { jobs: [job('a')] })).toEqual({ kind: 'changed', revision: 1 });
    expect(await use.store.jobs.load('a')).toBeUndefined();
    await use.save('r1', 1, { jobs: [job('a')] });
    const repeated = await use.save('r1', 1, { jobs: [job('a')] });

    expect(repeated).toMatchObject({ kind: 'saved', revision: 2, placed: [undefined] });
  });
});

describe('a turn without the lock', () => {
  it('is saved once by several engines that planned it, and the run sleeps', async () => {
    await use.create('r1');

    const outcomes = await Promise.all(
      ['e1', 'e2', 'e3'].map((home) => turn(1, { home, token: home, jobs: [job('a')] })),
    );

    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['changed', 'changed', 'saved']);
    expect(await use.redis.hget(keys.run('r1'), 'awake')).toBeNull();
    expect(await use.inbox('r1')).toEqual([]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a pass has the lock', () => use.lock('r1', 'other')],
    ['effects of an earlier pass remain', () => use.redis.hset(keys.run('r1'), 'acting', '1')],
  ])('is refused, and changes nothing, when %s', async (_, before) => {
    await use.create('r1');
    await before();

    expect(await turn(1, { jobs: [job('a')] })).toEqual({ kind: 'busy' });

    expect(await use.redis.hmget(keys.run('r1'), 'revision', 'awake')).toEqual(['1', '1']);
    expect(await use.store.jobs.load('a')).toBeUndefined();
  });
});

describe('a woken run', () => {
  const received: RunWake[] = [];
  const open: RunWakes[] = [];
  /** An engine that listens. */
  async function listen(engine: string): Promise<RunWakes> {
    const wakes = new RunWakes(use.redis, new Redis(use.redisUrl, { autoResubscribe: false }), engine, (wake) =>
      received.push(wake),
    );
    open.push(wakes);
    await wakes.open();
    await wakes.announce();
    return wakes;
  }
  afterEach(async () => {
    for (const wakes of open.splice(0)) await wakes.close();
    received.length = 0;
  });

  it('is reported to an engine with its events, and has a delayed entry until it sleeps', async () => {
    await listen('e1');

    const steps = new Map([['!given', { input: { crates: 2 } }]]);
    await use.create('r1', { steps });

    await eventually(() => received.length === 1);
    const atUs = expect.any(Number) as number;
    const loaded = await runs().load('r1');
    expect(received).toEqual([{ id: 'r1', revision: 1, atUs, events: [{ kind: 'start' }], loaded }]);
    expect([await delayed(), await use.passes()]).toEqual([['run-r1-1'], []]);
    await turn(1);
    expect([await delayed(), await use.redis.exists(pass('run-r1-1'))]).toEqual([[], 0]);
  });

  it('is reported to the engine that saved it last, with all events of the batch', async () => {
    await Promise.all(['e1', 'e2', 'e3'].map(listen));
    await use.create('r1');
    await turn(1, { home: 'e2' });
    await eventually(() => received.length === 1);
    await use.redis.del(keys.runEngines());

    await Promise.all([1, 2, 3].map((n) => runs().post('*', 'r1', { n })));

    await eventually(() => received.length === 2);
    expect(received[1]).toMatchObject({ revision: 2, events: [{ n: 1 }, { n: 2 }, { n: 3 }] });
  });

  it('is reported to another engine when that one is gone', async () => {
    await use.create('r1');
    await turn(1, { home: 'gone' });
    await listen('e1');

    await runs().post('*', 'r1', { n: 1 });

    await eventually(() => received.length === 1);
    expect(await delayed()).toEqual(['run-r1-2']);
  });

  it('is reported again with the events that arrived during a turn, and sleeps after the last one', async () => {
    await listen('e1');
    await use.create('r1');
    await runs().post('*', 'r1', { n: 1 });

    expect(await turn(1, { home: 'e1' })).toMatchObject({ kind: 'saved', left: 1, sleeps: false });

    await eventually(() => received.length === 2);
    expect(received[1]).toMatchObject({ revision: 2, events: [{ n: 1 }] });
    expect([await delayed(), await use.passes()]).toEqual([['run-r1-2'], []]);
    expect(await turn(2, { home: 'e1' })).toMatchObject({ sleeps: true });
    expect([await delayed(), await use.redis.exists(pass('run-r1-2'))]).toEqual([[], 0]);
  });

  it('is reported with the event that its turn posts', async () => {
    await listen('e1');
    await use.create('r1');

    await turn(1, { home: 'e1', post: { kind: 'continue' } });

    await eventually(() => received.length === 2);
    expect(received[1]).toMatchObject({ revision: 2, events: [{ kind: 'continue' }] });
  });

  it('is reported with the first of many events', async () => {
    await use.create('r1');
    await turn(1);
    await use.redis.rpush(keys.runInbox('r1'), ...Array.from({ length: 80 }, (_, n) => JSON.stringify({ n })));
    await listen('e1');

    await runs().post('*', 'r1', { n: 80 });

    await eventually(() => received.length === 1);
    expect(received[0]?.events).toEqual(Array.from({ length: 64 }, (_, n) => ({ n })));
  });

  it('has an entry that is due at once when no engine listens', async () => {
    await use.redis.sadd(keys.runEngines(), 'gone');

    await use.create('r1');

    expect([await use.passes(), await delayed()]).toEqual([['run-r1-1'], []]);
    expect(await use.redis.exists(keys.runEngines())).toBe(0);
  });

  it('is not reported while an operator has paused the queue of passes', async () => {
    await listen('e1');
    await use.redis.hset(pass('meta'), 'paused', '1');

    await use.create('r1');

    expect([await use.passes(), await delayed(), received]).toEqual([['run-r1-1'], [], []]);
  });

  it('is reported without its events when the first is large', async () => {
    await listen('e1');
    await use.create('r1');
    await turn(1, { home: 'e1' });
    await eventually(() => received.length === 1);

    await runs().post('*', 'r1', { text: 'x'.repeat(70_000) });

    await eventually(() => received.length === 2);
    expect(received[1]).toEqual({ id: 'r1', revision: 2, atUs: expect.any(Number) as number });
  });

  it('has one entry after a pass that yields to other runs', async () => {
    await listen('e1');
    await use.create('r1');
    await use.lock('r1');
    await use.save('r1', 1, { processedEvents: 1 });
    await runs().post('*', 'r1', { n: 1 });

    expect(await runs().close('r1', 'me', 'give_way')).toBe('gave_way');

    expect([await use.passes(), await delayed()]).toEqual([['run-r1-2'], []]);
  });
});
