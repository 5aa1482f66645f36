import { DeniedError, FatalError, RetryableError, type Job } from '@svc/worker-sdk';
import { writeWithheldLetter } from '@svc/jobs';
import { eventually } from '@svc/testing';
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
  ] as const)('is not retried after %s: step and run end with that status', async (_status, topic, status) => {
    await use.start();

    const id = await use.submitRun({ work: { topic, retry } });

    const run = await use.ended(id, status);
    expect(run.steps['work']).toMatchObject({ status, attempts: 1 });
    expect(calls.get(topic)).toBe(1);
  });

  it('passes a denied step to its error handler, like any other failure', async () => {
    await use.start();

    const id = await use.submitRun({
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

    const id = await use.submitRun({ work: { topic, retry, for_each: 'input.items' } }, { items: [1] });

    await use.ended(id, topic === 'job.denied' ? 'denied' : 'failed');
    expect(calls.get(topic)).toBe(1);
  });
});

describe('dead letters of a step with a retry policy', () => {
  const flaky = (failures: number): StepDefinition => ({ topic: 'job.flaky', input: { failures }, retry });
  const letters = async () =>
    (await use.store.deadLetters.page('acme', 100)).items.map(({ job_id, reason_code }) => [job_id, reason_code]);

  it('are not written when a later attempt succeeds', async () => {
    await use.start();

    const id = await use.submitRun({ work: flaky(2) });

    await use.ended(id, 'succeeded');
    expect((await use.store.jobs.load(`${id}:work@1`))?.state).toBe('FAILED');
    expect(await letters()).toEqual([]);
  });

  it('are written for the final attempt only', async () => {
    await use.start();

    const id = await use.submitRun({ work: flaky(99) });

    await use.ended(id, 'failed');
    expect(await letters()).toEqual([[`${id}:work@3`, 'worker_failed']]);
  });

  it('are not written for items of a fan-out that eventually succeed', async () => {
    await use.start();

    const id = await use.submitRun({ work: { ...flaky(2), for_each: 'input.items' } }, { items: [1, 2] });

    await use.ended(id, 'succeeded');
    expect(await letters()).toEqual([]);
  });

  it('are written immediately for a failure that is not retried', async () => {
    await use.start();

    const id = await use.submitRun({ work: { topic: 'job.denied', retry } });

    await use.ended(id, 'denied');
    expect(await letters()).toEqual([[`${id}:work@1`, 'worker_denied']]);
  });

  describe('of a child run', () => {
    const sub = (inner: string): Record<string, StepDefinition> => ({
      sub: { type: 'subworkflow', input: { workflow_id: inner }, retry: { ...retry, max_retries: 1 } },
    });

    it('are not written when the step that starts it is retried and then succeeds', async () => {
      await use.start();
      const inner = await use.workflow({ work: { ...flaky(1), retry: { max_retries: 0 } } });

      const id = await use.submitRun(sub(inner));

      await use.ended(id, 'succeeded');
      expect(calls.get('job.flaky')).toBe(2);
      expect(await letters()).toEqual([]);
    });

    it('are written for its final attempt only', async () => {
      await use.start();
      const inner = await use.workflow({ work: { ...flaky(99), retry: { max_retries: 0 } } });

      const id = await use.submitRun(sub(inner));

      const run = await use.ended(id, 'failed');
      const last = `${run.steps['sub']?.child_run_id}:work@1`;
      expect(calls.get('job.flaky')).toBe(2);
      await eventually(async () => expect(await letters()).toEqual([[last, 'worker_failed']]));
    });

    it('are written for a step whose failure the child handled, since it is not retried', async () => {
      await use.start();
      const inner = await use.workflow({
        work: { ...flaky(99), retry: { max_retries: 0 }, on_error: 'note' },
        note: { topic: 'job.note' },
      });

      const id = await use.submitRun(sub(inner));

      const run = await use.ended(id, 'succeeded');
      const handled = `${run.steps['sub']?.child_run_id}:work@1`;
      await eventually(async () => expect(await letters()).toEqual([[handled, 'worker_failed']]));

      await use.store.deadLetters.remove('acme', handled);
      await writeWithheldLetter(use.engine.ctx, handled);
      expect(await letters()).toEqual([]);
    });
  });
});
