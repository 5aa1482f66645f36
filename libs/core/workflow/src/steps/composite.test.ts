import type { StepDefinition } from '../definition/workflow';
import { Driver, type DriverOptions } from '../planner/driver.testing';

const started = (steps: Record<string, StepDefinition>, options: DriverOptions = {}): Driver => {
  const driver = new Driver(steps, options);
  driver.start();
  return driver;
};

describe('for_each', () => {
  const fan = (rest: StepDefinition = {}, list: unknown = ['a', 'b', 'c'], options: DriverOptions = {}) =>
    started(
      { each: { for_each: 'input.list', input: { it: '${item}/${index}' }, ...rest } },
      { input: { list }, ...options },
    );

  it('runs a job for each item, with bounded concurrency, and collects their outputs', () => {
    const run = fan({ max_parallel: 2, output_path: 'all' });
    expect(run.asked('dispatchJob').map(({ input }) => input)).toEqual([{ item: 'a', it: 'a/0' }, { item: 'b', it: 'b/1' }]); // prettier-ignore

    run.job('each[1]', 'SUCCEEDED', { output: 'B' });
    run.job('each[2]', 'SUCCEEDED', { output: 'C' });
    run.job('each[0]');

    expect(run.run).toMatchObject({
      status: 'succeeded',
      output: [null, 'B', 'C'],
      context: { all: [null, 'B', 'C'] },
    });
  });

  it('succeeds for an empty list; fails without a list or with too many items', () => {
    expect(fan({}, null).run.status).toBe('succeeded');
    expect(fan({}, []).run).toMatchObject({ status: 'succeeded', output: [] });
    expect(fan({}, 'abc').at('each')?.error?.code).toBe('foreach_failed');
    expect(fan({}, [1, 2, 3, 4], { limits: { maxItems: 3 } }).types('each')).toContain('step_foreach_failed');
  });

  it('cancels the other items when one fails', () => {
    const run = fan();

    run.job('each[1]', 'DENIED', { error: 'no' });

    expect(run.at('each')).toMatchObject({ status: 'denied', error: { message: 'each[1]: no' } });
    expect(run.asked('cancelJob').map(({ jobId }) => jobId)).toEqual(['r1:each[0]@1', 'r1:each[2]@1']);
    expect(run.types('each[0]')).toContain('step_foreach_orphan_cancelled');
  });

  it('without fail_fast lets the other items finish first', () => {
    const run = fan({ fail_fast: false });

    run.job('each[1]', 'FAILED', { error: 'no' });
    run.job('each[0]');
    expect(run.run.status).toBe('running');
    run.job('each[2]');

    expect(run.run).toMatchObject({ status: 'failed', error: { message: 'step each: each[1]: no' } });
  });

  it('shares the slots of the run with other steps, in turn', () => {
    const run = started({ each: { for_each: 'input.list' }, other: {} }, { input: { list: [1, 2, 3] }, limits: { maxParallelSteps: 2 } }); // prettier-ignore
    expect(run.dispatched).toEqual(['other', 'each[0]']);

    run.job('other');

    expect(run.dispatched).toEqual(['other', 'each[0]', 'each[1]']);
  });

  it('works for gates as well as jobs', () => {
    const run = fan({ type: 'approval', input: { about: '${item}' } });
    expect(run.asked('openGate').map(({ jobId }) => jobId)).toEqual(['r1:each[0]@1', 'r1:each[1]@1', 'r1:each[2]@1']);

    for (const i of [0, 1, 2]) run.gate(`each[${i}]`, true);

    expect(run.run.status).toBe('succeeded');
  });
});

describe('parallel', () => {
  const side = (input: Record<string, unknown>, rest: StepDefinition = {}) =>
    started({ side: { type: 'parallel', input: { steps: ['a', 'b', 'c'], ...input }, ...rest }, a: {}, b: {}, c: {} });

  it('all: succeeds when all did, with the output of each', () => {
    const run = side({});

    for (const id of ['a', 'b', 'c']) run.job(id, 'SUCCEEDED', { output: id });

    expect(run.run.output).toEqual({ a: 'a', b: 'b', c: 'c' });
  });

  it('any: the first success is enough, the rest is cancelled', () => {
    const run = side({ strategy: 'any' });

    run.job('a', 'FAILED');
    run.job('b', 'SUCCEEDED', { output: 1 });

    expect(run.statuses).toEqual({ side: 'succeeded', a: 'failed', b: 'succeeded', c: 'cancelled' });
    expect(run.run).toMatchObject({ status: 'succeeded', output: { b: 1 } });
  });

  it('n_of_m: fails as soon as it is impossible', () => {
    const run = side({ strategy: 'n_of_m', required: 2 });

    run.job('a', 'FAILED');
    expect(run.run.status).toBe('running');
    run.job('b', 'FAILED');

    expect(run.statuses).toMatchObject({ side: 'failed', c: 'cancelled' });
    expect(side({ strategy: 'n_of_m', required: 4 }).run.status).toBe('failed');
  });

  it('limits concurrency; succeeds at once without steps', () => {
    const run = side({}, { max_parallel: 1 });
    expect(run.dispatched).toEqual(['a']);

    run.job('a');

    expect(run.dispatched).toEqual(['a', 'b']);
    expect(started({ side: { type: 'parallel', input: { steps: '' } } }).run.status).toBe('succeeded');
  });

  it('a dependent of a child step waits for the whole composite', () => {
    const run = started({ side: { type: 'parallel', input: { steps: ['a', 'b'] } }, a: {}, b: {}, after: { depends_on: ['a'] } }); // prettier-ignore

    run.job('a');
    expect(run.dispatched).not.toContain('after');
    run.job('b');

    expect(run.dispatched).toContain('after');
  });

  it('runs nested composites and recovers by nested handlers', () => {
    const run = started({
      side: { type: 'parallel', input: { steps: 'inner, each' } },
      inner: { type: 'parallel', input: { steps: ['a'] } },
      each: { for_each: 'input.list' },
      a: { on_error: 'recover' },
      recover: { type: 'transform', input: { why: '${input.error.message}' } },
      after: { depends_on: ['side'] },
    }, { input: { list: [1] } }); // prettier-ignore

    run.job('a', 'FAILED', { error: 'broken' });
    run.job('each[0]');

    expect(run.at('recover')?.output).toEqual({ why: 'broken' });
    expect(run.dispatched).toContain('after');
  });
});

describe('loop', () => {
  const rounds = (input: Record<string, unknown>, rest: Record<string, StepDefinition> = { work: {} }) =>
    started({ again: { type: 'loop', input: { body_step: 'work', ...input } }, ...rest });

  it('counts its rounds, and attempts across rounds', () => {
    const run = rounds({ max_iterations: 2 });
    expect(run.asked('dispatchJob')[0]?.input).toEqual({ loop: { index: 0, iteration: 1 } });

    run.job('work', 'SUCCEEDED', { output: 5 });
    expect(run.asked('dispatchJob')[1]).toMatchObject({ jobId: 'r1:work@2', input: { loop: { index: 1, iteration: 2, previous_output: 5 } } }); // prettier-ignore
    run.send({ kind: 'jobEnded', jobId: 'r1:work@1', status: 'FAILED_FATAL' });
    run.job('work', 'SUCCEEDED', { output: 6 });

    expect(run.run).toMatchObject({ status: 'succeeded', output: { iterations: 2, last_output: 6 } });
  });

  it('repeats while its condition holds, and until another does', () => {
    const whilst = rounds({ while: 'loop.previous_output == nil or loop.previous_output < 2' });
    whilst.job('work', 'SUCCEEDED', { output: 1 });
    whilst.job('work', 'SUCCEEDED', { output: 2 });
    const until = rounds({ until: 'steps.work.output == 2 and loop.iteration == 2' });
    until.job('work', 'SUCCEEDED', { output: 2 });
    until.job('work', 'SUCCEEDED', { output: 2 });

    expect(whilst.run.output).toEqual({ iterations: 2, last_output: 2 });
    expect(until.run.output).toEqual({ iterations: 2, last_output: 2 });
    expect(rounds({ condition: 'false' }).run.output).toEqual({ iterations: 0, last_output: null });
  });

  it('fails with its body, and when it exceeds its rounds', () => {
    const failed = rounds({ max_iterations: 2 });
    failed.job('work', 'FAILED', { error: 'no' });
    const endless = rounds({ max_iterations: 2, until: 'false' }, { work: { type: 'transform' } });

    expect(failed.run.error?.message).toBe('step again: work: no');
    expect(endless.run.error?.code).toBe('loop_cap_reached');
  });

  it('without a body runs a job each round', () => {
    const run = started({ again: { type: 'loop', input: { max_iterations: 2, n: '${loop.index}' } } });
    expect(run.asked('dispatchJob')[0]).toMatchObject({ jobId: 'r1:again[0]@1', input: { n: 0 } });

    run.job('again[0]', 'SUCCEEDED', { output: 'x' });
    expect(run.asked('dispatchJob')[1]?.input).toMatchObject({ n: 1, loop: { previous_output: 'x' } });
    run.job('again[1]');

    expect(run.run.status).toBe('succeeded');
  });

  it('resets everything its body owns, including fan-outs', () => {
    const run = started({
      again: { type: 'loop', input: { body_step: 'side', max_iterations: 2 } },
      side: { type: 'parallel', input: { steps: ['each'] } },
      each: { for_each: '[1, 2]' },
    });

    for (let round = 0; round < 2; round++)
      for (const i of [0, 1]) run.job(`each[${i}]`, 'SUCCEEDED', { output: round });

    expect(run.run.output).toEqual({ iterations: 2, last_output: { each: [1, 1] } });
    expect(new Set(run.asked('dispatchJob').map(({ jobId }) => jobId)).size).toBe(4);
  });

  it('a handler of its body runs in every round that needs it', () => {
    const run = rounds(
      { max_iterations: 3 },
      { work: { on_error: 'recover' }, recover: {}, after: { depends_on: ['again'] } },
    );

    run.job('work', 'FAILED');
    run.job('recover');
    run.job('work');
    expect(run.at('recover')?.status).toBe('pending');
    run.job('work', 'FAILED');
    run.job('recover');

    const jobs = run.asked('dispatchJob').map(({ jobId }) => jobId.slice(3));
    expect(jobs).toEqual(['work@1', 'recover@1', 'work@2', 'work@3', 'recover@2', 'after@1']);
  });

  it('loops of inline steps cannot block a pass', () => {
    const run = started(
      { again: { type: 'loop', input: { body_step: 'work', max_iterations: 9_000 } }, work: { type: 'transform' } },
      { limits: { maxMovesPerPass: 1_000 } },
    );

    expect(run.run.error?.code).toBe('pass_too_long');
  });
});
