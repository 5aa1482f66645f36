import type { StepDefinition } from '../definition/workflow';
import { Driver, type DriverOptions } from '../planner/driver.testing';

const started = (steps: Record<string, StepDefinition>, options: DriverOptions = {}): Driver => {
  const driver = new Driver(steps, options);
  driver.start();
  return driver;
};
const one = { concurrency: { key: 'k', limit: 1 } };
const debounce = { debounce: { key: 'd', period: '30s' } };

describe('limits by key of a step', () => {
  it('are part of the request of its job, with evaluated keys and the defaults of a submission', () => {
    const run = started(
      {
        a: {
          concurrency: { key: 'customer-${input.customer}', limit: 2 },
          rate: { key: '${input.account}', limit: 5, per: '1m' },
          singleton: { key: '${run.id}' },
        },
      },
      { input: { customer: 7, account: 12 } },
    );

    expect(run.asked('dispatchJob')).toMatchObject([
      {
        limits: {
          concurrency: { key: 'customer-7', limit: 2, strategy: 'queue' },
          rate: { key: '12', limit: 5, per: '1m' },
          singleton: { key: 'r1', mode: 'reject' },
        },
      },
    ]);
  });

  it('differ for each item of a fan-out, and are kept for a repeated action', () => {
    const run = started(
      { a: { for_each: 'input.items', concurrency: { key: '${item}', limit: 1 } } },
      { input: { items: ['x', 'y'] } },
    );
    const keys = () => run.asked('dispatchJob').map(({ limits }) => limits?.concurrency?.key);
    expect(keys()).toEqual(['x', 'y']);

    run.send({ kind: 'tick' });

    expect(keys()).toEqual(['x', 'y', 'x', 'y']);
    run.job('a[0]');
    expect(run.at('a[0]')).not.toHaveProperty('limits');
  });

  it.each([
    ['that is empty', ''],
    ['of nothing', null],
    ['of an object', { a: 1 }],
    ['that is too long', 'x'.repeat(257)],
    ['with control characters', 'a\u0000b'],
  ])('fail the step with a key %s, which the message does not contain', (_, value) => {
    const run = started({ a: { singleton: { key: '${input.key}' } } }, { input: { key: value } });

    expect(run.at('a')).toMatchObject({
      status: 'failed',
      error: {
        code: 'step_limit_invalid',
        message: 'singleton.key must be a text of 1 to 256 characters, or a number',
      },
    });
    expect(run.asked('dispatchJob')).toEqual([]);
  });
});

describe('a job that a limit ends', () => {
  it.each([
    ['concurrency_limit', one],
    ['debounced', debounce],
  ])('fails its step without a retry (%s), and a handler of errors continues', (code, limits) => {
    const run = started({
      a: { ...limits, retry: { max_retries: 3 }, on_error: 'b' },
      b: {},
      c: { depends_on: ['a'] },
    });

    run.job('a', 'CANCELLED', { code, error: 'ended by a limit' });

    expect(run.at('a')).toMatchObject({ status: 'failed', attempts: 1, error: { code } });
    expect(run.at('b')).toMatchObject({ status: 'running', handles: { code, step_id: 'a' } });
    run.job('b');
    expect(run.at('c')?.status).toBe('running');
  });

  it('fails the run without a handler, with the code of the limit and without a dead letter', () => {
    const run = started({ a: { ...debounce, retry: { max_retries: 3 } } });

    run.job('a', 'CANCELLED', { code: 'debounced', error: 'replaced' });

    expect(run.run).toMatchObject({ status: 'failed', error: { code: 'debounced', message: 'step a: replaced' } });
  });

  it('is another end than a cancellation of the job by a user, which no handler continues', () => {
    const run = started({ a: { ...one, on_error: 'b' }, b: {} });

    run.job('a', 'CANCELLED', { code: 'cancelled' });

    expect(run.statuses).toMatchObject({ a: 'cancelled', b: 'skipped' });
  });
});

describe('a step whose singleton key has an open job', () => {
  it('succeeds with the ids of that job, which is neither checked nor compensated', () => {
    const checked: string[] = [];
    const run = started(
      {
        a: {
          singleton: { key: 's', mode: 'return' },
          result_data_path: 'bay.number',
          output_schema: { type: 'integer' },
          compensation: { topic: 'undo' },
        },
        b: { depends_on: ['a'], input: { open: '${steps.a.output.job_id}' } },
      },
      { checkSchema: (_, which) => (checked.push(which), which === 'output' ? 'wrong' : undefined) },
    );

    const openJob = { job_id: 'j9', trace_id: 't9' };
    run.send({ kind: 'jobEnded', jobId: 'r1:a@1', status: 'SUCCEEDED', openJob });

    expect(run.at('a')).toMatchObject({ status: 'succeeded', output: openJob });
    expect(run.asked('dispatchJob')[1]).toMatchObject({ path: 'b', input: { open: 'j9' } });
    run.job('b', 'FAILED_FATAL');
    expect(run.asked('compensate')).toEqual([]);
  });
});
