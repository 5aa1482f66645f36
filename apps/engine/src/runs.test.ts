import { useEngine } from './use-engine.testing';

const use = useEngine();

describe('a run', () => {
  it('of one step succeeds with the output of its job', async () => {
    await use.start();

    const id = await use.runOf({ weigh: { topic: 'job.weigh', input: { crate: '${input.crate}' } } }, { crate: 7 });

    const run = await use.ended(id, 'succeeded');
    expect(run.output).toEqual({ echo: { crate: 7 } });
    expect((await use.timeline(id)).map(({ type }) => type)).toEqual(['run_status', 'step_dispatched', 'step_completed', 'run_status']); // prettier-ignore
    expect(use.engine.defects).toEqual([]);
  });
});
