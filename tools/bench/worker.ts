import { createWorker } from '@svc/worker-sdk';

/** Number of executions of each job. */
const runs = new Map<string, number>();

const worker = createWorker({
  pool: 'demo',
  concurrency: Number(process.env['BENCH_CONCURRENCY'] ?? 256),
  topics: {
    'job.demo.bench': async (job) => {
      runs.set(job.jobId, (runs.get(job.jobId) ?? 0) + 1);
      return { answer: `Berth ${job.prompt.length % 40} is free from six in the morning.`, attempt: job.attempt };
    },
  },
});

// Requested between measurements, never during one.
process.on('message', () => {
  const repeated = [...runs].filter(([, times]) => times > 1).map(([id]) => id);
  process.send?.({ jobs: runs.size, repeated });
  runs.clear();
});

// The bench process has exited.
process.once('disconnect', () => process.exit(1));

worker.start().then(
  () => process.send?.('up'),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
