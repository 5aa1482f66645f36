import type { WorkflowDefinition } from '@svc/workflow';
import { useEngine } from './use-engine.testing';

const use = useEngine({
  topics: {
    'job.work': () => ({ ok: true }),
    'job.talk': () => 'x'.repeat(200_000),
  },
});

describe('large runs', () => {
  /** Run completions in order. */
  const endsAt = async (id: string) => (await use.ended(id, 'succeeded')).completed_at_ms ?? 0;

  it('do not delay runs of another tenant', async () => {
    await use.start();
    const config = { resources: { max_parallel_steps: 50 } };
    const items = Array.from({ length: 400 }, (_, i) => i);
    const large = await use.workflow({ all: { topic: 'job.work', for_each: 'input.items' } }, { config });
    const small = await use.workflow({ one: { topic: 'job.work' } }, {}, 'globex');

    const first = await use.run(large, { items });
    await use.step(first, 'all', 'running');
    const second = await use.run(small, {}, {}, 'globex');

    expect(await endsAt(second)).toBeLessThan(await endsAt(first));
  });

  it('of a thousand steps complete', async () => {
    await use.start();
    const steps: WorkflowDefinition['steps'] = {};
    for (let i = 0; i < 1_000; i++) {
      steps[`s${i}`] = { type: 'transform', input: { n: i }, ...(i > 0 && { depends_on: [`s${i - 1}`] }) };
    }

    const run = await use.ended(await use.submitRun(steps), 'succeeded');

    expect(run.output).toEqual({ n: 999 });
    expect(Object.values(run.steps).filter(({ status }) => status === 'succeeded')).toHaveLength(1_000);
  });

  it('over the item limit are rejected with an error code', async () => {
    await use.start({ env: { foreachMaxItems: 3 } });

    const id = await use.submitRun({ all: { topic: 'job.work', for_each: 'input.items' } }, { items: [1, 2, 3, 4] });

    expect((await use.ended(id, 'failed')).error?.message).toMatch(/4 items; at most 3 are allowed/);
  });

  it('over the limit of stored results fail with an error code', async () => {
    await use.start();

    const id = await use.submitRun(
      { all: { topic: 'job.talk', for_each: 'input.items' } },
      { items: Array(30).fill(0) },
    );

    const run = await use.ended(id, 'failed');
    expect(run.error).toMatchObject({ code: 'run_too_large' });
    expect(run.kept_bytes).toBeLessThanOrEqual(4 * 1024 * 1024);
  });

  it('whose jobs exceed the input limit fail with an error code', async () => {
    await use.start();
    const big = 'x'.repeat(1_000_000);

    const id = await use.submitRun(
      { all: { topic: 'job.work', input: { many: '${[input.big, input.big, input.big, input.big, input.big, input.big, input.big, input.big, input.big]}' } } }, // prettier-ignore
      { big },
    );

    expect((await use.ended(id, 'failed')).error?.message).toMatch(/8388608 are allowed/);
  });
});
