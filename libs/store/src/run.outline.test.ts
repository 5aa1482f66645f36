import { useRuns } from './run.testing';

const use = useRuns();

describe('the outline of a run', () => {
  it('has its steps and their companions, but not the items of fan-outs', async () => {
    await use.begin('a', { steps: new Map([['!given', { input: { n: 1 } }]]) });
    const paths = ['weigh', 'weigh[0]', 'weigh[1]', 'weigh!items', 'tally', '!context'];
    await use.save('a', 1, { steps: new Map(paths.map((path) => [path, { path }])) });

    const [run] = await use.store.runIndex.ofWorkflow('acme', 'cargo', 1);
    const { steps } = run ? await use.store.runs.outline(run) : { steps: new Map() };

    expect([...steps.keys()].sort()).toEqual(['!context', '!given', 'tally', 'weigh']);
    expect(await use.store.runs.steps('a', ['weigh[1]', 'none'])).toEqual(
      new Map([['weigh[1]', { path: 'weigh[1]' }]]),
    );
  });
});

describe('removing a run', () => {
  it('is delayed until the effects of its last pass are applied', async () => {
    await use.begin('a');
    await use.end('a', 1, { acting: true });

    expect(await use.store.runs.remove('acme', 'a')).toEqual({ kind: 'active', status: 'succeeded' });

    await use.store.runs.close('a', 'me', 'go_on');
    expect(await use.store.runs.remove('acme', 'a')).toEqual({ kind: 'removed' });
  });
});

describe('runs of a workflow that have not ended', () => {
  it('are those created and not ended', async () => {
    await use.begin('a');
    await use.begin('b');
    await use.begin('c', { workflow: { id: 'other', version: 1 } });
    await use.end('a');

    expect(await use.store.runIndex.liveOf('acme', 'cargo')).toEqual(['b']);
  });
});
