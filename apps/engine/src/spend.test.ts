import { changeDocument } from '@svc/settings';
import { toLoadedRunView } from '@svc/workflows';
import { eventually } from '@svc/testing';
import { useEngine } from './use-engine.testing';

const use = useEngine({
  topics: {
    'job.>': (job) => {
      if (job.labels['estimated_cost']) job.cost(0.25);
      return {};
    },
  },
});
const costly = (more: object = {}) => ({ topic: 'job.work', meta: { labels: { estimated_cost: '1' } }, ...more });

/** Writes a config document and waits until the scheduler has read it. */
async function config(scope: string, scope_id: string, data: object): Promise<void> {
  const deps = { store: use.store, clock: use.engine.ctx.clock };
  await changeDocument(deps, { scope, scope_id }, () => ({ data: { ...data } }));
}
const getCost = async (id: string): Promise<number | undefined> => {
  const loaded = await use.store.runs.load(id);
  return loaded && toLoadedRunView(loaded).total_cost;
};

describe('a run', () => {
  it('costs as much as its jobs and those of its child runs', async () => {
    await use.start();
    const inner = await use.workflow({ a: costly(), b: costly({ depends_on: ['a'] }) });

    const id = await use.submitRun({
      own: costly(),
      below: { type: 'subworkflow', input: { workflow_id: inner }, depends_on: ['own'] },
      free: { topic: 'job.work', depends_on: ['below'] },
    });

    const run = await use.ended(id, 'succeeded');
    await eventually(async () => expect(await getCost(id)).toBe(0.75));
    expect(await getCost(run.steps['below']?.child_run_id ?? '')).toBe(0.5);
  });

  it('fails at the step that exceeds the budget, with the limit in its error', async () => {
    await use.start();
    const flow = await use.workflow({
      a: costly(),
      b: costly({ depends_on: ['a'] }),
      c: costly({ depends_on: ['b'] }),
    });
    await config('workflow', flow, { budget: { per_workflow_max_usd: 1.3 } });

    const run = await use.ended(await use.run(flow), 'denied');

    expect(run.steps['b']?.status).toBe('succeeded');
    expect(run.steps['c']).toMatchObject({ status: 'denied', error: { code: 'budget_exceeded' } });
    expect(run.steps['c']?.error?.message).toContain('per_workflow_max_usd');
  });
});
