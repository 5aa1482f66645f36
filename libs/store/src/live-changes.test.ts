import { Redis } from 'ioredis';
import { eventually } from '@svc/testing';
import { keys, LiveChanges, type Change } from './index';
import { useStore, waitingPlan } from './store.testing';

describe('changes of jobs', () => {
  const use = useStore();
  const seen: Change[] = [];
  let gaps = 0;
  let changes: LiveChanges;
  let listener: Redis;
  beforeEach(() => {
    seen.length = 0;
    gaps = 0;
    listener = new Redis(use.redisUrl, { autoResubscribe: false });
    const follower = { onChange: (change: Change) => void seen.push(change), onGap: () => void (gaps += 1) };
    changes = new LiveChanges(use.redis, listener, follower);
  });
  afterEach(() => changes.close());

  async function runningJob(id: string) {
    await use.accept(id);
    await use.store.jobs.admit(id, { ...waitingPlan, worker: { id: 'w1', pool: 'p', max: 0 }, set: {} });
  }
  const record = async (id: string) => {
    const job = await use.store.jobs.load(id);
    if (!job) throw new Error('the job is missing');
    return job;
  };

  it('each transition is announced with the tenant, in order, from the start of the subscription', async () => {
    await use.accept('before');
    await changes.start();
    await runningJob('j1');
    await use.store.jobs.move('*', 'j1', 'fail', { set: { error_code: 'c', error_message: 'line\n"quoted"' } });

    await eventually(() => expect(seen).toHaveLength(3));

    expect(seen).toMatchObject([
      { kind: 'job', id: 'j1', event: 'submit', state: 'PENDING', fields: { topic: 'job.default' } },
      { id: 'j1', event: 'dispatch', state: 'DISPATCHED', fields: { worker_id: 'w1' } },
      { id: 'j1', event: 'fail', state: 'FAILED', fields: { error_message: 'line\n"quoted"' } },
    ]);
    const { tenant } = await record('j1');
    expect(seen.map((change) => change.kind === 'job' && change.fields['tenant'])).toEqual([tenant, tenant, tenant]);
  });

  it('nothing is announced while no process follows', async () => {
    await listener.subscribe(keys.changes());
    const lines: string[] = [];
    listener.on('message', (_channel, line) => void lines.push(line));
    await runningJob('j1');

    await use.redis.publish(keys.changes(), '{"kind":"none"}');
    await eventually(() => expect(lines).toHaveLength(1));
    expect(lines).toEqual(['{"kind":"none"}']);
  });

  it('after an interrupted connection the subscription continues, and the gap is reported', async () => {
    await changes.start();
    await use.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');

    await eventually(() => expect(gaps).toBe(1));
    await use.accept('j1');
    await eventually(() => expect(seen).toMatchObject([{ id: 'j1', event: 'submit' }]));
  });

  it('reports count only from the worker that holds the job, for the current dispatch, while it runs or just after its result', async () => {
    await runningJob('j1');
    const { dispatch_id: dispatchId = '' } = await record('j1');
    const report = (worker: string, dispatch: string) =>
      use.store.eventLogs.report('j1', worker, dispatch, [JSON.stringify({ kind: 'output', text: worker })]);

    expect(await report('w2', '')).toBe('stale');
    expect(await report('w1', 'other')).toBe('stale');
    expect(await report('w1', dispatchId)).toBe('added');
    await use.store.jobs.move('*', 'j1', 'cancel');
    expect(await report('w1', dispatchId)).toBe('stale');

    await runningJob('j2');
    const { dispatch_id: second = '' } = await record('j2');
    await use.store.jobs.move('*', 'j2', 'succeed');
    const late = (dispatch: string) => use.store.eventLogs.report('j2', 'w1', dispatch, ['{"kind":"output"}']);
    expect([await late(''), await late('other'), await late(second)]).toEqual(['stale', 'stale', 'added']);

    const { events } = await use.store.eventLogs.read({ job: 'j1' }, 0, 10);
    expect(events.map(({ seq, text }) => [seq, JSON.parse(text) as object])).toEqual([
      [1, { job_id: 'j1', attempt: 1, kind: 'output', text: 'w1' }],
    ]);
  });

  it('the log is bounded by size, and a reader learns how many entries it missed', async () => {
    await runningJob('j1');
    const text = 'x'.repeat(60_000);
    for (let i = 0; i < 30; i++) {
      await use.store.eventLogs.report('j1', 'w1', '', [JSON.stringify({ kind: 'output', text })]);
    }
    const bytes = await use.redis.memory('USAGE', keys.jobEvents('j1'));
    const { events, dropped } = await use.store.eventLogs.read({ job: 'j1' }, 2, 100);

    expect(Number(bytes)).toBeLessThan(1_500_000);
    expect(events.at(-1)?.seq).toBe(30);
    expect(dropped).toBe((events[0]?.seq ?? 0) - 3);
    expect(dropped).toBeGreaterThan(0);
    await use.redis.del(keys.jobEvents('j1'));
    expect(await use.store.eventLogs.read({ job: 'j1' }, 30, 100)).toEqual({ events: [], dropped: 'unknown' });
  });
});
