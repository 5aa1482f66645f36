import { createWorker } from '@svc/worker-sdk';
import { benchAnswer, ExecutionCounts, reportReady } from './execution-counts';

const counts = new ExecutionCounts();

const worker = createWorker({
  pool: 'demo',
  concurrency: Number(process.env['BENCH_CONCURRENCY'] ?? 256),
  topics: {
    'job.demo.bench': async (job) => {
      counts.add(job.jobId);
      return benchAnswer(job.prompt, job.attempt);
    },
  },
});

reportReady(worker.start());
