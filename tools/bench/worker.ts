import { createWorker } from '@svc/worker-sdk';
import { benchAnswer, ExecutionCounts, reportReady } from './execution-counts';

const counts = new ExecutionCounts();
/** Running time of a job. */
const jobMs = Number(process.env['BENCH_JOB_MS'] ?? 0);

const worker = createWorker({
  pool: 'demo',
  concurrency: Number(process.env['BENCH_CONCURRENCY'] ?? 256),
  topics: {
    'job.demo.bench': async (job) => {
      counts.add(job.jobId);
      if (jobMs > 0) await new Promise((resolve) => setTimeout(resolve, jobMs));
      return benchAnswer(job.prompt, job.attempt);
    },
  },
});

reportReady(worker.start());
