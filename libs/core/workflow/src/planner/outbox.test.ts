import { Driver } from './driver.testing';
import { jobIdParts, timerParts } from './ids';

const toKinds = (actions: readonly { kind: string; id: string }[]) => actions.map(({ kind, id }) => `${kind} ${id}`);

describe('actions', () => {
  it('are repeated unchanged until confirmed', () => {
    const run = new Driver({
      work: { input: { n: '${input.n}' }, timeout_sec: 5 },
      ask: { type: 'approval', input: { q: 1 } },
      sub: { type: 'subworkflow', input: { workflow_id: 'other' } },
      notice: { type: 'notify', input: { message: 'hi' } },
    }, { input: { n: 1 } }); // prettier-ignore
    const first = run.start();

    expect(run.send({ kind: 'tick' })).toEqual(first);
    const [one, ...others] = first.map(({ id }) => id);
    expect(run.send({ kind: 'tick' }, others).map(({ id }) => id)).toEqual([one]);
    expect(run.send({ kind: 'tick' }, one === undefined ? [] : [one])).toEqual([]);
  });

  it('are not repeated once a response made them unnecessary', () => {
    const run = new Driver({ work: { timeout_sec: 5 } });
    run.start();

    run.job('work');

    expect(toKinds(run.send({ kind: 'tick' }))).toEqual(['clearTimer clear:r1:work@1#timeout', 'finished finished:r1']);
  });

  it('of an ended run are repeated too, so that its jobs are cancelled', () => {
    const run = new Driver({ work: {} }, { run: { parent: { run_id: 'r0', step_id: 's', key: 'sub:r0:s:1' } } });
    run.start();
    run.send({ kind: 'cancel' });

    expect(toKinds(run.send({ kind: 'tick' }))).toContain('cancelJob cancel:r1:work@1');
    expect(run.asked('finished')[0]).toMatchObject({ status: 'cancelled', parentKey: 'sub:r0:s:1' });
  });

  it('are not caused by events of an ended run', () => {
    const run = new Driver({ work: {} });
    run.start();
    run.job('work');
    const before = run.run;

    run.job('work', 'FAILED');
    run.send({ kind: 'cancel' });
    run.start();

    expect(run.run).toEqual(before);
  });
});

describe('ids', () => {
  it('encode run, step, item and attempt', () => {
    expect(jobIdParts('r1:weigh[2]@3')).toEqual({ runId: 'r1', path: 'weigh[2]', attempt: 3 });
    expect(timerParts('r1:a.b-c_d@1#retry')).toMatchObject({ purpose: 'retry', of: { path: 'a.b-c_d' } });
    expect(timerParts('r1#deadline')).toEqual({ runId: 'r1', purpose: 'deadline' });
    expect([jobIdParts('comp-1'), timerParts('x')]).toEqual([undefined, undefined]);
  });
});

describe('the maximum number of jobs of a plan', () => {
  const list = Array.from({ length: 10 }, (_, i) => i);
  const steps = { each: { for_each: 'input.list' } };
  const driver = () => new Driver(steps, { input: { list }, limits: { maxDispatches: 3, maxParallelSteps: 7 } });
  const jobs = (from: number, to: number) => list.slice(from, to).map((i) => `dispatchJob r1:each[${i}]@1`);

  it('leaves further jobs to the plans that continue', () => {
    const run = driver();

    expect([toKinds(run.start()), run.isUnfinished]).toEqual([jobs(0, 3), true]);
    expect([toKinds(run.send({ kind: 'continue' })), run.isUnfinished]).toEqual([jobs(3, 6), true]);
    expect([toKinds(run.send({ kind: 'continue' })), run.isUnfinished]).toEqual([jobs(6, 7), false]);
    expect(run.send({ kind: 'continue' })).toEqual([]);
  });

  it('is not exceeded by events in between, and the run ends as without it', () => {
    const run = driver();
    run.start();

    expect(toKinds(run.job('each[0]'))).toEqual(jobs(3, 6));
    expect(toKinds(run.send({ kind: 'continue' }))).toEqual(jobs(6, 8));
    for (let i = 1; i < 10; i++) run.job(`each[${i}]`);

    expect(run.run.status).toBe('succeeded');
  });

  it('has nothing to continue in a run that ends', () => {
    const run = driver();
    run.start();

    run.send({ kind: 'cancel' });

    expect([run.isUnfinished, toKinds(run.send({ kind: 'continue' }))]).toEqual([false, []]);
  });
});

describe('a fan-out of ten thousand', () => {
  it('each response changes only the item, the next one and the step', () => {
    const list = Array.from({ length: 10_000 }, (_, i) => i);
    const run = new Driver({ each: { for_each: 'input.list' } }, { input: { list }, limits: { maxItems: 10_000 } });
    run.start();

    const actions = run.job('each[3]');

    expect(toKinds(actions)).toEqual(['dispatchJob r1:each[10]@1']);
    expect(run.lastChanged.sort()).toEqual(['each', 'each[10]', 'each[3]']);
  });
});
