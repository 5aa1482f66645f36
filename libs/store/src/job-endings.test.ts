import { Redis } from 'ioredis';
import { eventually } from '@svc/testing';
import { applyEnding, endingFields, JobEndings, keys, type MoveExtras } from './index';
import { useStore, waitingPlan } from './store.testing';

describe('the announced end of a job', () => {
  const use = useStore();
  let endings: JobEndings;
  beforeEach(async () => {
    endings = new JobEndings(new Redis(use.redisUrl, { autoResubscribe: false }));
    await endings.open();
  });
  afterEach(() => endings.close());

  /** Ends a job for which a client waits. */
  async function end(id: string, event: 'succeed' | 'fail' | 'cancel' | 'deny', extras: MoveExtras = {}) {
    const { ended } = endings.wait(id, 20_000);
    expect(await use.store.jobs.move('*', id, event, extras)).toMatchObject({ kind: 'moved' });
    const ending = await ended;
    if (ending === 'gap') throw new Error('the subscription was interrupted');
    return ending;
  }

  /** A job that a worker holds. */
  async function runningJob(id: string) {
    await use.accept(id);
    await use.store.jobs.admit(id, { ...waitingPlan, worker: { id: 'w1', pool: 'p', max: 0 }, set: {} });
  }

  const result = (id: string, body: string) => use.redis.set(keys.result(id), body);

  it('has the fields that complete a record read at any time before', async () => {
    await use.store.jobs.announceWait();
    const ends: [id: string, event: 'succeed' | 'fail' | 'cancel' | 'deny', extras: MoveExtras][] = [
      [
        'done',
        'succeed',
        { set: { result_ptr: 'redis://res:done', execution_ms: 5, cost: 12, artifact_ptrs: ['redis://art:1'] } },
      ],
      [
        'failed',
        'fail',
        { set: { error_code: 'c', error_message: 'line\nline\t"quoted"', error_status: 's', last_state: 'RUNNING' } },
      ],
      ['cancelled', 'cancel', {}],
    ];
    for (const [id, event, extras] of ends) {
      await use.accept(id);
      const accepted = await use.store.jobs.load(id);
      if (!accepted) throw new Error('the job is missing');
      await use.store.jobs.note(id, { states: ['PENDING'] }, { waiting_reason: 'no_workers' });
      if (event !== 'cancel') {
        await use.store.jobs.move('*', id, 'dispatch', {
          set: { worker_id: 'w1', pool: 'p', attempts: 1, dispatched_at: 7 },
        });
      }

      const ending = await end(id, event, { ...extras, unset: ['waiting_reason'] });

      const ended = applyEnding(accepted, ending ?? { fields: {} });
      const stored = await use.store.jobs.load(id);
      expect(ended.state).not.toBe('PENDING');
      for (const field of endingFields) expect([field, ended[field]]).toEqual([field, stored?.[field]]);
    }
  });

  it('has the body of a small result only when it is released and scanned', async () => {
    await use.redis.set(keys.endsAwaited(), '1');
    const pointer = (id: string) => ({ set: { result_ptr: `redis://res:${id}` } });
    const scan = { queueEntries: [{ queue: 'outputScan', suffix: 'scan' }] } as const;
    for (const id of ['small', 'large', 'elsewhere', 'unscanned', 'failed']) {
      await runningJob(id);
      await result(id, id === 'large' ? JSON.stringify('x'.repeat(9_000)) : '{"ok":true}');
    }

    const bodies = {
      small: (await end('small', 'succeed', pointer('small')))?.body,
      large: (await end('large', 'succeed', pointer('large')))?.body,
      elsewhere: (await end('elsewhere', 'succeed', { set: { result_ptr: 'redis://res:elsewhere:redacted:1' } }))?.body,
      unscanned: (await end('unscanned', 'succeed', { ...pointer('unscanned'), queueEntries: [...scan.queueEntries] }))
        ?.body,
      failed: (await end('failed', 'fail', pointer('failed')))?.body,
    };

    expect(bodies).toEqual({ small: '{"ok":true}' });
  });

  it('has no details unless clients wait', async () => {
    await runningJob('j');

    expect(await end('j', 'succeed')).toBeUndefined();
  });

  it('is read after a reconnect, since an end in between was not announced', async () => {
    const gaps: string[] = [];
    endings.followGaps(() => gaps.push('gap'));
    const { ended } = endings.wait('j', 20_000);

    await use.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');

    expect(await ended).toBe('gap');
    await eventually(() => expect(gaps.length).toBeGreaterThan(0));
  });

  it('of another version only ends the wait', async () => {
    const { ended } = endings.wait('j', 20_000);

    await use.redis.publish(keys.endings(), 'other\nj\tSUCCEEDED\t{"fields":');

    expect(await ended).toBeUndefined();
  });
});
