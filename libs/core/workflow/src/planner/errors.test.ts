import type { StepDefinition } from '../definition/workflow';
import { Driver, type DriverOptions } from './driver.testing';
import type { JobEnd } from './events';

const started = (steps: Record<string, StepDefinition>, options: DriverOptions = {}): Driver => {
  const driver = new Driver(steps, options);
  driver.start();
  return driver;
};

describe('retries', () => {
  it('double their backoff up to the cap', () => {
    const run = started({ a: { retry: { max_retries: 3, initial_backoff_sec: 4, max_backoff_sec: 10 } } });
    const pauses: number[] = [];

    for (let i = 0; i < 3; i++) {
      run.job('a', 'FAILED_RETRYABLE');
      pauses.push((run.at('a')?.next_attempt_at_ms ?? 0) - run.nowMs);
      run.fire('retry');
    }
    run.job('a', 'FAILED');

    expect(pauses).toEqual([4_000, 8_000, 10_000]);
    expect(run.asked('dispatchJob').map(({ jobId }) => jobId)).toEqual(['r1:a@1', 'r1:a@2', 'r1:a@3', 'r1:a@4']);
    expect(run.run.status).toBe('failed');
  });

  it.each([
    ['FAILED_FATAL', 'failed'],
    ['DENIED', 'denied'],
    ['OUTPUT_QUARANTINED', 'failed'],
    ['CANCELLED', 'cancelled'],
  ] as const)('%s is not tried again: the step is %s', (end, status) => {
    const run = started({ a: { retry: { max_retries: 3 } } });

    run.job('a', end);

    expect(run.at('a')?.status).toBe(status);
    expect(run.run.status).toBe(status === 'denied' ? 'denied' : 'failed');
  });

  it('ignore results of older attempts and other runs', () => {
    const run = started({ a: { retry: { max_retries: 1 } } });
    run.job('a', 'FAILED');
    run.send({ kind: 'jobEnded', jobId: 'r1:a@1', status: 'SUCCEEDED' });
    run.fire('retry');

    run.send({ kind: 'jobEnded', jobId: 'r1:a@1', status: 'SUCCEEDED' });
    run.send({ kind: 'jobEnded', jobId: 'r2:a@2', status: 'SUCCEEDED' });
    run.send({ kind: 'jobEnded', jobId: 'r1:gone@1', status: 'SUCCEEDED' });
    run.send({ kind: 'jobEnded', jobId: 'nonsense', status: 'SUCCEEDED' });

    expect(run.at('a')).toMatchObject({ status: 'running', attempts: 2 });
  });

  it('time out and cancel an unreported job after its deadline and a grace period', () => {
    const run = started({ a: { timeout_sec: 10 } });

    run.fire('timeout');

    expect(run.nowMs).toBe(1_000_000 + 10_000 + 30_000);
    expect(run.asked('cancelJob')).toMatchObject([{ jobId: 'r1:a@1' }]);
    run.job('a', 'CANCELLED');
    expect(run.run.status).toBe('timed_out');
  });
});

describe('dead letters', () => {
  const retry = { max_retries: 1 };
  const asked = (run: Driver) => run.asked('writeDeadLetters').map(({ jobIds }) => jobIds);

  it('attempts are dispatched as retried while the rule grants another one', () => {
    const run = started({ a: { retry } });
    run.job('a', 'FAILED');
    run.fire('retry');
    run.job('a', 'FAILED');

    expect(run.asked('dispatchJob').map(({ retried = false }) => retried)).toEqual([true, false]);
    expect(asked(run)).toEqual([]);
  });

  it('an attempt that would be retried has its letter written when its run ends first', () => {
    const run = started({ a: { retry }, b: {} }, { definition: { on_failure: 'cancel_siblings' } });
    run.job('a', 'FAILED');

    run.job('b', 'FAILED_FATAL');

    expect(asked(run)).toEqual([['r1:a@1']]);
  });

  it('a job that fails after its cancellation has its letter written, unless a newer attempt replaced it', () => {
    const stopped = started({ a: { retry }, b: {} });
    stopped.job('b', 'FAILED_FATAL');
    stopped.job('a', 'FAILED');
    const replaced = started({ a: { retry, timeout_sec: 10 } });
    replaced.fire('timeout');
    replaced.send({ kind: 'jobEnded', jobId: 'r1:a@1', status: 'FAILED' });

    expect(asked(stopped)).toEqual([['r1:a@1']]);
    expect(asked(replaced)).toEqual([]);
  });

  it('a child run that is retried leaves its letters to its parent, and writes them when it succeeds', () => {
    const inChild = (handler: JobEnd) => {
      const run = started({ a: { on_error: 'h' }, h: {} }, { run: { retried: true } });
      run.job('a', 'FAILED');
      run.job('h', handler);
      return run;
    };

    const failed = inChild('FAILED');
    expect([failed.run.status, failed.run.letters, asked(failed)]).toEqual(['failed', ['r1:a@1', 'r1:h@1'], []]);
    const succeeded = inChild('SUCCEEDED');
    expect([succeeded.run.status, succeeded.run.letters, asked(succeeded)]).toEqual([
      'succeeded',
      undefined,
      [['r1:a@1']],
    ]);
  });

  it('the letters of a child run are dropped when another one is started, and written when none is', () => {
    const run = started({ sub: { type: 'subworkflow', input: { workflow_id: 'inner' }, retry } });
    const fail = (letters: string[]) => {
      const { key = '' } = run.asked('startChild').at(-1) ?? {};
      run.send({ kind: 'childRunEnded', key, childRunId: 'c', status: 'failed', letters });
    };

    fail(['c1:a@1']);
    expect(asked(run)).toEqual([]);
    run.fire('retry');
    fail(['c2:a@1']);

    expect(run.asked('startChild').map(({ retried = false }) => retried)).toEqual([true, false]);
    expect(asked(run)).toEqual([['c2:a@1']]);
  });

  it('the letters of a child run are written when its parent ends before it starts another one', () => {
    const run = started({ sub: { type: 'subworkflow', input: { workflow_id: 'inner' }, retry }, b: {} });
    const { key = '' } = run.asked('startChild').at(-1) ?? {};
    run.send({ kind: 'childRunEnded', key, childRunId: 'c1', status: 'failed', letters: ['c1:a@1'] });

    run.job('b', 'FAILED_FATAL');

    expect(asked(run)).toEqual([['c1:a@1']]);
  });
});

describe('on_error', () => {
  const chain: Record<string, StepDefinition> = {
    a: { on_error: 'h1' },
    h1: { on_error: 'h2', input: { was: '${input.error.code}' } },
    h2: {},
    after: { depends_on: ['a'] },
  };

  it('a handler gets the error, and its success lets the branch continue', () => {
    const run = started(chain);
    expect(run.dispatched).toEqual(['a']);

    run.job('a', 'FAILED_FATAL', { error: 'broken', code: 'e1' });
    expect(run.asked('dispatchJob').at(-1)?.input).toEqual({
      was: 'e1',
      error: { message: 'broken', step_id: 'a', code: 'e1', attempts: 1 },
    });
    expect(run.types('a')).toContain('step_error_redirect');
    run.job('h1');

    expect(run.dispatched).toEqual(['a', 'h1', 'after']);
    expect(run.at('h2')).toMatchObject({ status: 'skipped', skip_reason: 'not_activated' });
    run.job('after');
    expect(run.run.status).toBe('succeeded');
  });

  it('the failure of the last handler fails the run', () => {
    const run = started(chain);

    run.job('a', 'DENIED');
    run.job('h1', 'FAILED');
    run.job('h2', 'TIMEOUT', { error: 'late' });

    expect(run.run).toMatchObject({ status: 'failed', error: { message: 'step h1: the job ended FAILED' } });
    expect(run.at('after')?.skip_reason).toBe('dependency_failed:a');
  });

  it('steps and handlers that wait for each other do not block the run forever', () => {
    const run = started({ a: { on_error: 'h' }, b: { depends_on: ['a'] }, h: { depends_on: ['b'] } });

    run.job('a', 'FAILED');

    expect(run.run.status).toBe('failed');
    expect(run.at('h')?.skip_reason).toBe('unreachable');
  });
});

describe('the end of a run', () => {
  it('by default waits for cancelled siblings, but not forever', () => {
    const run = started({ a: {}, b: {}, c: { depends_on: ['b'] }, d: { type: 'delay', delay_sec: 99 } });

    run.job('a', 'FAILED');
    expect([run.run.status, run.statuses]).toEqual([
      'running',
      { a: 'failed', b: 'cancelled', c: 'pending', d: 'cancelled' },
    ]);
    expect(run.dispatched).toEqual(['a', 'b']);
    run.fire('cancels');

    expect(run.run.status).toBe('failed');
    expect(run.statuses['c']).toBe('cancelled');
  });

  it('finish_siblings: others continue, and the most severe failure decides', () => {
    const run = started({ a: {}, b: {}, c: { depends_on: ['b'] } }, { definition: { on_failure: 'finish_siblings' } });

    run.job('a', 'TIMEOUT');
    run.job('b');
    run.job('c', 'DENIED');

    expect(run.run).toMatchObject({ status: 'denied', error: { message: 'step c: the job ended DENIED' } });
  });

  it('a run past its deadline times out with its live steps, whichever pass sees it first', () => {
    const byTimer = started({ a: {}, b: { depends_on: ['a'] } }, { definition: { timeout_sec: 60 } });
    byTimer.fire('deadline');
    const byScan = started({ a: {} }, { definition: { timeout_sec: 60 } });
    byScan.nowMs += 60_000;
    byScan.send({ kind: 'tick' });

    expect(byTimer.run).toMatchObject({ status: 'timed_out', error: { code: 'run_timeout' } });
    expect(byTimer.statuses).toEqual({ a: 'timed_out', b: 'cancelled' });
    expect(byScan.run.status).toBe('timed_out');
    expect(byScan.asked('cancelJob')).toHaveLength(1);
  });

  it('cancel and deletion end it at once', () => {
    const cancelled = started({ a: {}, b: { type: 'approval' } });
    cancelled.send({ kind: 'cancel', by: 'ann' });
    const deleted = started({ a: {} });
    deleted.send({ kind: 'deleted' });

    expect(cancelled.run).toMatchObject({ status: 'cancelled', error: { message: 'cancelled by ann' } });
    expect(cancelled.asked('cancelJob').map(({ jobId }) => jobId)).toEqual(['r1:a@1', 'r1:b@1']);
    expect(deleted.run).toMatchObject({ status: 'failed', error: { message: 'workflow deleted' } });
  });

  it('nothing begins in the pass that decides the end', () => {
    const run = started({ bad: { type: 'transform', input: { x: '${1 / 0}' } }, ask: { type: 'approval' } });

    expect([run.run.status, run.asked('openGate'), run.statuses['ask']]).toEqual(['failed', [], 'cancelled']);
  });

  it('a pending run can be cancelled', () => {
    const run = new Driver({ a: {} });

    run.send({ kind: 'cancel' });
    run.start();

    expect([run.run.status, run.dispatched]).toEqual(['cancelled', []]);
  });

  it('its output is that of the last steps, or as the definition maps it', () => {
    const two = started({ a: { type: 'transform', input: { n: 1 } }, b: { type: 'transform', input: { n: 2 } } });
    const made = started({ a: { type: 'transform', input: { n: 1 } } }, { definition: { output: { was: '${steps.a.output.n}' } } }); // prettier-ignore
    const broken = started({ a: { type: 'transform' } }, { definition: { output: '${1 / 0}' } });

    expect(two.run.output).toEqual({ a: { n: 1 }, b: { n: 2 } });
    expect(made.run.output).toEqual({ was: 1 });
    expect(broken.run).toMatchObject({ status: 'failed', error: { code: 'output_failed' } });
  });
});
