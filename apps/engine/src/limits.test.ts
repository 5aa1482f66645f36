import { eventually } from '@svc/testing';
import type { Job } from '@svc/worker-sdk';
import { useEngine } from './use-engine.testing';

let [running, most] = [0, 0];
const aborted: string[] = [];
const use = useEngine({
  topics: {
    'job.count': async () => {
      most = Math.max(most, ++running);
      // Other jobs could start here.
      await new Promise((resume) => setImmediate(resume));
      running--;
      return { done: true };
    },
    'job.long': ({ jobId, signal }: Job) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          aborted.push(jobId);
          reject(new Error('stopped'));
        }),
      ),
  },
});

const cancel = (id: string) => use.postEvent(id, { kind: 'cancel' });
const long = (limits: object) => ({ a: { topic: 'job.long', ...limits } });
const one = (strategy: 'queue' | 'cancel_newest' | 'cancel_oldest') => ({
  concurrency: { key: 'customer-${input.customer}', limit: 1, strategy },
});
const input = { customer: 7 };

describe('steps with limits by key', () => {
  it('of several runs and items run one at a time, and all end', async () => {
    await use.start();
    [running, most] = [0, 0];
    const id = await use.workflow({
      a: { topic: 'job.count', ...one('queue') },
      b: { topic: 'job.count', depends_on: ['a'], for_each: 'input.items', ...one('queue') },
    });

    const runs = await Promise.all([1, 2, 3].map(() => use.run(id, { ...input, items: [1, 2, 3] })));

    for (const run of runs) await use.ended(run, 'succeeded');
    expect(most).toBe(1);
  });

  it('cancel_oldest: the step of the older run fails with the code, and its worker is notified', async () => {
    const { metrics } = await use.start();
    const id = await use.workflow(long(one('cancel_oldest')));
    const older = await use.run(id, input);
    await eventually(async () => expect((await use.store.jobs.load(`${older}:a@1`))?.state).toBe('RUNNING'));

    const newer = await use.run(id, input);

    const ended = await use.ended(older, 'failed');
    expect(ended.error).toMatchObject({ code: 'concurrency_limit' });
    await eventually(() => expect(aborted).toContain(`${older}:a@1`));
    await eventually(async () => expect((await use.store.jobs.load(`${newer}:a@1`))?.state).toBe('RUNNING'));
    expect(await metrics()).toMatch(/svc_jobs_cancelled_by_limits_total\{(?=.*limit="concurrency").*\} 1/);
    await cancel(newer);
    await use.ended(newer, 'cancelled');
  });

  it('cancel_newest: the new step fails with the code, which its handler continues from', async () => {
    await use.start();
    const first = await use.submitRun(long(one('cancel_newest')), input);
    await eventually(async () => expect((await use.store.jobs.load(`${first}:a@1`))?.state).toBe('RUNNING'));

    const second = await use.submitRun(
      {
        a: { topic: 'job.count', on_error: 'skip', ...one('cancel_newest') },
        skip: { type: 'transform', input: { why: '${error.code}' } },
      },
      input,
    );

    const ended = await use.ended(second, 'succeeded');
    expect(ended.steps['skip']?.output).toEqual({ why: 'concurrency_limit' });
    expect(await use.store.deadLetters.get('*', `${second}:a@1`)).toBeUndefined();
    await cancel(first);
    await use.ended(first, 'cancelled');
  });

  it('debounce: the step that a newer run replaces fails with the code; the newest runs', async () => {
    await use.start();
    const id = await use.workflow({ a: { topic: 'job.count', debounce: { key: 'doc', period: '1h' } } });
    const first = await use.run(id);
    await eventually(async () =>
      expect(await use.store.jobs.load(`${first}:a@1`)).toMatchObject({ waiting_reason: 'debounce' }),
    );

    const second = await use.run(id);

    expect((await use.ended(first, 'failed')).error).toMatchObject({ code: 'debounced' });
    await use.store.limits.open(Date.now() + 3_700_000);
    await use.ended(second, 'succeeded');
  });

  it('singleton: while a job of the key is open, a step fails with singleton_conflict or returns its id', async () => {
    await use.start();
    const singleton = (mode: 'reject' | 'return') => ({ singleton: { key: 'import', mode } });
    const first = await use.submitRun(long(singleton('reject')));
    await eventually(async () => expect((await use.store.jobs.load(`${first}:a@1`))?.state).toBe('RUNNING'));

    const refused = await use.submitRun({
      a: { topic: 'job.count', retry: { max_retries: 3 }, ...singleton('reject') },
    });
    const returned = await use.submitRun({ a: { topic: 'job.count', ...singleton('return') } });

    expect((await use.ended(refused, 'failed')).steps['a']).toMatchObject({
      attempts: 1,
      error: { code: 'singleton_conflict', message: `job ${first}:a@1 with its singleton key is open` },
    });
    const ended = await use.ended(returned, 'succeeded');
    expect(ended.steps['a']?.output).toEqual({ job_id: `${first}:a@1`, trace_id: first });
    expect(await use.store.jobs.load(`${returned}:a@1`)).toBeUndefined();
    await cancel(first);
    await use.ended(first, 'cancelled');
    await use.ended(await use.submitRun({ a: { topic: 'job.count', ...singleton('reject') } }), 'succeeded');
  });
});
