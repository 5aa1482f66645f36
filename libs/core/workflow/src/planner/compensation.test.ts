import type { StepDefinition } from '../definition/workflow';
import { Driver, type DriverOptions } from './driver.testing';

const started = (steps: Record<string, StepDefinition>, options: DriverOptions = {}): Driver => {
  const driver = new Driver(steps, options);
  driver.start();
  return driver;
};

describe('compensation', () => {
  const saga: Record<string, StepDefinition> = {
    book: { compensation: { topic: 'unbook', input: { ref: '${output.ref}' } } },
    pay: { depends_on: ['book'], compensation: { topic: 'job.refund', timeout_sec: 5 } },
    send: { depends_on: ['pay'] },
  };
  const failedAtSend = (): Driver => {
    const run = started(saga);
    run.job('book', 'SUCCEEDED', { output: { ref: 7 } });
    run.job('pay');
    run.job('send', 'FAILED_FATAL');
    return run;
  };
  const answer = (run: Driver, status: 'SUCCEEDED' | 'FAILED') =>
    run.send({ kind: 'jobEnded', jobId: run.asked('compensate').at(-1)?.jobId ?? '', status });

  it('compensates newest first, one at a time, and then fails the run', () => {
    const run = failedAtSend();
    expect(run.asked('compensate')).toMatchObject([{ topic: 'job.refund', undoes: 'r1:pay@1', timeoutMs: 5_000 }]);
    expect(run.run.status).toBe('running');

    answer(run, 'SUCCEEDED');
    expect(run.asked('compensate').at(-1)).toMatchObject({
      topic: 'job.unbook',
      input: { ref: 7 },
      undoes: 'r1:book@1',
    });
    answer(run, 'SUCCEEDED');

    expect(run.run.status).toBe('failed');
    expect(run.asked('compensate')).toHaveLength(2);
  });

  it('reports a compensation that fails or times out, and continues with the next', () => {
    const run = failedAtSend();

    answer(run, 'FAILED');
    run.fire('undo1');

    expect(run.run.status).toBe('failed');
    expect(run.asked('notify').map(({ alert }) => alert.message)).toEqual(['pay: FAILED', 'book: timed out']);
    expect(run.asked('cancelJob')).toHaveLength(1);
  });

  it('compensates a job that succeeded despite its cancellation', () => {
    const run = started({ a: {}, b: { compensation: { topic: 'job.undo' } } });

    run.job('a', 'FAILED');
    run.job('b', 'SUCCEEDED');

    expect(run.asked('compensate')).toMatchObject([{ undoes: 'r1:b@1' }]);
  });

  it('compensates items and rounds individually, and not their composite', () => {
    const undo = { compensation: { topic: 'job.undo' } };
    const run = started({
      each: { for_each: '[1, 2]', ...undo },
      again: { type: 'loop', depends_on: ['each'], input: { max_iterations: 2 }, ...undo },
      last: { depends_on: ['again'] },
    });
    for (const path of ['each[0]', 'each[1]', 'again[0]', 'again[1]']) run.job(path);
    run.job('last', 'FAILED');
    while (run.run.status === 'running') answer(run, 'SUCCEEDED');

    const undone = run.asked('compensate').map(({ undoes }) => undoes);
    expect(undone).toEqual(['r1:again[1]@1', 'r1:again[0]@1', 'r1:each[1]@1', 'r1:each[0]@1']);
  });

  it('compensates on cancel only if requested, and never on success', () => {
    const kept = started(saga);
    kept.job('book');
    kept.send({ kind: 'cancel' });
    const undone = started(saga);
    undone.job('book', 'SUCCEEDED', { output: {} });
    undone.send({ kind: 'cancel', compensate: true });
    undone.job('pay', 'CANCELLED');
    answer(undone, 'SUCCEEDED');

    expect([kept.run.status, kept.asked('compensate').length]).toEqual(['cancelled', 0]);
    expect([undone.run.status, undone.asked('compensate').length]).toEqual(['cancelled', 1]);
  });
});
