import type { StepDefinition } from '../definition/workflow';
import { Driver } from './driver.testing';
import { newRun } from './new-run';
import { buildRerunSeed } from './rerun';

const steps: Record<string, StepDefinition> = {
  a: { output_path: 'a.out' },
  keep: { type: 'storage', depends_on: ['a'], input: { operation: 'write', key: 'kept', value: 1 } },
  other: {},
  b: { depends_on: ['keep'], input: { from: '${ctx.a.out}', kept: '${ctx.kept}' } },
  c: { depends_on: ['b', 'other'] },
};

const earlier = (): Driver => {
  const run = new Driver(steps);
  run.start();
  run.job('a', 'SUCCEEDED', { output: 'A' });
  run.job('other');
  run.job('b', 'FAILED');
  return run;
};

describe('a rerun from a step', () => {
  it('copies the dependencies of the step with their context entries, and resets all else', () => {
    const source = earlier();
    const outcome = buildRerunSeed(source.definition, source.run, 'b');
    if (outcome.kind === 'bad') throw new Error(outcome.message);
    expect(Object.keys(outcome.seed.steps).sort()).toEqual(['a', 'keep']);

    const again = new Driver(steps, {
      run: newRun({ id: 'r2', workflow_id: 'harbour', org_id: 'acme', input: {} }, 0),
    });
    const actions = again.send({ kind: 'start', seed: outcome.seed });

    expect(actions.filter(({ kind }) => kind === 'dispatchJob')).toMatchObject([
      { path: 'other' },
      { path: 'b', jobId: 'r2:b@1', input: { from: 'A', kept: 1 } },
    ]);
    expect(again.statuses).toEqual({ a: 'succeeded', keep: 'succeeded', other: 'running', b: 'running', c: 'pending' });
  });

  it('is rejected when a dependency did not succeed, is missing or was compensated', () => {
    const source = earlier();

    expect(buildRerunSeed(source.definition, source.run, 'c')).toMatchObject({
      kind: 'bad',
      message: expect.stringContaining('step b'),
    });
    expect(buildRerunSeed(source.definition, source.run, 'gone')).toMatchObject({ kind: 'bad' });
    expect(buildRerunSeed(source.definition, source.run)).toEqual({ kind: 'ok', seed: { steps: {}, context: {} } });

    const undone = new Driver({ a: { compensation: { topic: 'job.undo' } }, b: { depends_on: ['a'] } });
    undone.start();
    undone.job('a');
    undone.job('b', 'FAILED');
    expect(buildRerunSeed(undone.definition, undone.run, 'b')).toMatchObject({
      kind: 'bad',
      message: expect.stringContaining('compensated'),
    });
  });

  it('accepts branches that were not taken, and copies composites with their children', () => {
    const source = new Driver({
      lane: { type: 'switch', condition: '1', input: { cases: [{ match: 1, next: 'left' }, { match: 2, next: 'right' }] } },
      left: { type: 'loop', depends_on: ['lane'], input: { body_step: 'work', max_iterations: 1 } },
      work: { type: 'transform', input: { n: 1 } },
      right: { depends_on: ['lane'] },
      join: { depends_on: ['left', 'right'] },
    }); // prettier-ignore
    source.start();
    source.job('join', 'FAILED');

    const outcome = buildRerunSeed(source.definition, source.run, 'join');

    expect(outcome.kind === 'ok' && Object.keys(outcome.seed.steps).sort()).toEqual(['lane', 'left', 'right', 'work']);
    const again = new Driver(source.definition.steps);
    again.send({ kind: 'start', ...(outcome.kind === 'ok' && { seed: outcome.seed }) });
    expect(again.dispatched).toEqual(['join']);
  });
});
