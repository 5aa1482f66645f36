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

describe('several engines', () => {
  it('work on each step of each run once, also when one of them goes', async () => {
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
});
