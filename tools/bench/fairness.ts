import type { JobDetail } from '@svc/contract';
import { httpRequest } from './http-load';
import type { Product } from './product';
import { percentile } from './statistics';
import { submissionBody } from './submission';

/** Running time of the jobs in the measurement. */
const JOB_MS = 100;
/** Jobs that the worker runs at once: it is full for the whole flood. */
export const FAIRNESS_CONCURRENCY = 128;

/** Gives jobs a running time. */
export const fairnessEnv = { BENCH_JOB_MS: String(JOB_MS) };

export interface FairnessLoad {
  flood: number;
  /** Time between two jobs of the other tenant. */
  everyMs: number;
  /** Jobs of the other tenant without a flood. */
  alone: number;
}

/**
 * 99th percentile of the time from acceptance to end of the jobs of one tenant while another one floods the product with jobs,
 * divided by the same alone. Both run their jobs on the same worker, which the flood keeps full. The times are those of the
 * records: the load of the gateway's HTTP server by the flood is not counted.
 */
export async function measureFairness(
  product: Product,
  load: FairnessLoad,
  say: (text: string) => void,
): Promise<number> {
  let left = load.alone;
  const alone = await sample(product, load.everyMs, () => left-- > 0);
  let isFlooding = true;
  const flooded = flood(product, load.flood).finally(() => (isFlooding = false));
  const during = await sample(product, load.everyMs, () => isFlooding);
  await flooded;
  const p99 = (times: number[]) => percentile(times, 0.99);
  const describe = ({ ms, startMs }: Sample) =>
    `${p99(ms).toFixed(1)} ms, of these ${p99(startMs).toFixed(1)} ms to the start (${ms.length} jobs)`;
  say(`fairness: p99 alone ${describe(alone)}, during the flood ${describe(during)}`);
  return p99(during.ms) / p99(alone.ms);
}

interface Sample {
  /** To its end. */
  ms: number[];
  /** To its start. */
  startMs: number[];
}

/** Submits one job per interval while `wanted`. @returns times of each from its acceptance */
async function sample(product: Product, everyMs: number, wanted: () => boolean): Promise<Sample> {
  const headers = { 'X-API-Key': product.stack.info.keys.other_tenant };
  const submission = httpRequest('POST', '/api/v1/jobs', headers, JSON.stringify(submissionBody()));
  const ms: number[] = [];
  const startMs: number[] = [];
  const running = new Set<Promise<unknown>>();
  const one = async () => {
    const connection = await product.openLoad(1);
    try {
      const { status, body } = await connection.one(submission);
      if (status !== 200) throw new Error(`a submission got status ${status}: ${body}`);
      const { job_id: id } = JSON.parse(body) as { job_id: string };
      const found = await connection.one(httpRequest('GET', `/api/v1/jobs/${id}?wait_ms=20000`, headers));
      const {
        state,
        created_at: created = 0,
        completed_at: ended = 0,
        started_at: started = 0,
      } = JSON.parse(found.body) as JobDetail;
      if (state !== 'SUCCEEDED') throw new Error(`job ${id} is ${state} after 20 s`);
      ms.push((ended - created) / 1_000);
      startMs.push((started - created) / 1_000);
    } finally {
      connection.close();
    }
  };
  while (wanted()) {
    const sent = one();
    running.add(sent);
    // Rejections are reported by Promise.all below.
    void sent.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  await Promise.all(running);
  return { ms, startMs };
}

/** Resolves when all jobs of the flood have ended. */
async function flood(product: Product, jobs: number): Promise<void> {
  const load = await product.openLoad(16);
  const submission = product.submission();
  try {
    await load.run(jobs, async (send) => {
      const { status, body } = await send(submission);
      if (status !== 200) throw new Error(`a submission got status ${status}: ${body}`);
    });
  } finally {
    load.close();
  }
  while ((await product.unfinished()).open > 0) await new Promise((resolve) => setTimeout(resolve, 250));
}
