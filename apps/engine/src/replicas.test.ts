import { runPass } from '@svc/workflows';
import { keys } from '@svc/store';
import { eventually } from '@svc/testing';
import { once } from 'node:events';
import { useEngine } from './use-engine.testing';

const worked: string[] = [];
const use = useEngine({
  topics: {
    'job.work': ({ jobId }) => {
      worked.push(jobId);
      return { ok: true };
    },
  },
});

const aborted = (signal: AbortSignal) => signal.aborted || once(signal, 'abort');

describe('several engines', () => {
  it('execute each step of each run once, even when one engine stops', async () => {
    const [leaving] = await Promise.all([use.start(), use.start(), use.start()]);
    const config = { resources: { max_parallel_steps: 20 } };
    const flow = await use.workflow(
      {
        all: { topic: 'job.work', for_each: 'input.items' },
        next: { topic: 'job.work', depends_on: ['all'] },
      },
      { config },
    );
    const items = Array.from({ length: 30 }, (_, i) => i);

    const ids = await Promise.all(Array.from({ length: 8 }, () => use.run(flow, { items })));
    await use.stop(leaving);

    for (const id of ids) {
      const run = await use.ended(id, 'succeeded');
      expect(run.steps['all']?.children?.map(({ attempts }) => attempts)).toEqual(items.map(() => 1));
      const ends = (await use.timeline(id)).filter(
        ({ type, status }) => type === 'run_status' && status === 'succeeded',
      );
      expect(ends).toHaveLength(1);
    }
    expect([worked.length, new Set(worked).size]).toEqual([8 * 31, 8 * 31]);
  });

  it('an engine frozen until another has ended the run creates nothing, not even records deleted in between', async () => {
    const { ctx } = await use.start({ idle: true });
    const nested = await use.workflow({ part: { topic: 'job.work' } });
    const id = await use.submitRun({
      work: { topic: 'job.work' },
      part: { type: 'subworkflow', input: { workflow_id: nested } },
    });
    const [frozen, thaw] = [new AbortController(), new AbortController()];
    const waits = async <T>(store: () => Promise<T>) => {
      frozen.abort();
      await aborted(thaw.signal);
      return store();
    };
    const admission = {
      job: <T>(_tenant: string, _bytes: number, store: () => Promise<T>) => waits(store),
      data: <T>(_tenant: string, _bytes: number, store: () => Promise<T>) => waits(store),
    };
    const pass = runPass({ ...ctx, admission }, id);
    await aborted(frozen.signal);

    await use.store.redis.del(keys.runLock(id));
    await use.postEvent(id, { kind: 'cancel', reason: 'enough' });
    await use.start();
    const { steps } = await use.ended(id, 'cancelled');
    const job = steps['work']?.job_id ?? '';
    // The end is stored before its effects: the engine that stored it may still be creating the job, to cancel it.
    await eventually(async () => expect(await use.store.redis.exists(keys.runLock(id))).toBe(0));
    await use.store.redis.del(keys.job(job));
    for (const child of await use.store.runIndex.ofWorkflow('acme', nested, 10)) {
      await use.ended(child.id, 'cancelled');
      await eventually(async () => expect(await use.store.runs.remove('*', child.id)).toEqual({ kind: 'removed' }));
    }
    thaw.abort();
    await pass;

    expect(await use.store.jobs.load(job)).toBeUndefined();
    expect(await use.store.runIndex.ofWorkflow('acme', nested, 10)).toEqual([]);
  });
});
