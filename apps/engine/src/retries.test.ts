import { DeniedError, FatalError, RetryableError, type Job } from '@svc/worker-sdk';
import type { StepDefinition } from '@svc/workflow';
import { useEngine } from './use-engine.testing';

/** Dispatches so far, by topic. */
const calls = new Map<string, number>();
const counted = (topic: string): number => {
  const count = (calls.get(topic) ?? 0) + 1;
  calls.set(topic, count);
  return count;
};
beforeEach(() => calls.clear());

const use = useEngine({
  topics: {
    'job.fatal': () => {
      counted('job.fatal');
      throw new FatalError('broken for good');
    },
    'job.denied': () => {
      counted('job.denied');
      throw new DeniedError('not allowed here');
    },
    'job.flaky': ({ context }: Job) => {
      const attempt = counted('job.flaky');
      if (attempt <= (context as { failures: number }).failures) throw new RetryableError('not yet');
      return { attempt };
    },
    'job.note': ({ context }: Job) => ({ echo: context }),
  },
});

const retry: NonNullable<StepDefinition['retry']> = { max_retries: 2, initial_backoff_sec: 0.1, multiplier: 1 };

describe('a step with a retry policy', () => {
  it.each([
    ['FAILED_FATAL', 'job.fatal', 'failed'],
    ['DENIED', 'job.denied', 'denied'],
  ] as const)('is not retried after %s: step and run end with it', async (_status, topic, status) => {
    await use.start();

    const id = await use.runOf({ work: { topic, retry } });

    const run = await use.ended(id, status);
    expect(run.steps['work']).toMatchObject({ status, attempts: 1 });
    expect(calls.get(topic)).toBe(1);
  });

  it('hands a denied step to its error handler, as any other failure', async () => {
    await use.start();

    const id = await use.runOf({
      work: { topic: 'job.denied', retry, on_error: 'note' },
      note: { topic: 'job.note', input: { why: '${error.code}' } },
    });

    const run = await use.ended(id, 'succeeded');
    expect(run.steps['work']?.status).toBe('denied');
    expect(run.steps['note']?.output).toMatchObject({ echo: { why: 'worker_denied' } });
    expect(calls.get('job.denied')).toBe(1);
  });

  it.each(['job.fatal', 'job.denied'])('does not retry an item whose worker answers %s', async (topic) => {
    await use.start();

    const id = await use.runOf({ work: { topic, retry, for_each: 'input.items' } }, { items: [1] });

    await use.ended(id, topic === 'job.denied' ? 'denied' : 'failed');
    expect(calls.get(topic)).toBe(1);
  });
});
