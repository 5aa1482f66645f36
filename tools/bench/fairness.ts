import type { JobDetail } from '@svc/contract';
import { httpRequest } from './http-load';
import type { Product } from './product';
import { percentile } from './statistics';
import { submissionBody } from './submission';

/** Running time of the jobs in the measurement. */
const JOB_MS = 100;
/**
 * Jobs that the worker runs at once. It executes 640 a second, fewer than the product can, so that jobs wait for the worker:
 * with more slots they would wait for processors, which no order of jobs changes.
 */
export const FAIRNESS_CONCURRENCY = 64;
/** Enough for the gateway to accept jobs faster than the worker executes them. */
const FLOOD_CONNECTIONS = 64;

/** Gives jobs a running time. */
export const fairnessEnv = { BENCH_JOB_MS: String(JOB_MS) };

export interface FairnessLoad {
  /** Jobs of a first flood that is not measured, so that the code is compiled. */
  warmUp: number;
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
  await flood(product, load.warmUp);
  let left = load.alone;
  const alone = await sample(product, load.everyMs, () => left-- > 0);
  let phase: 'submitted' | 'executed' | 'ended' = 'submitted';
  const flooded = flood(product, load.flood, () => (phase = 'executed')).finally(() => (phase = 'ended'));
  const submitted = await sample(product, load.everyMs, () => phase === 'submitted');
  const executed = await sample(product, load.everyMs, () => phase !== 'ended');
  const waited = await flooded;
  say(`${waited} jobs of the flood waited when all were submitted`);
  const during = { ms: [...submitted.ms, ...executed.ms], startMs: [...submitted.startMs, ...executed.startMs] };
  const p99 = (times: number[]) => percentile(times, 0.99);
  const describe = (when: string, { ms, startMs }: Sample) =>
    ms.length > 0 &&
    say(`${when}: ${p99(ms).toFixed(1)} ms, to the start ${p99(startMs).toFixed(1)} ms (p99 of ${ms.length} jobs)`);
  describe('alone', alone);
  describe('while the flood is submitted', submitted);
  describe('while the rest of the flood is executed', executed);
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

/** Resolves when all jobs of the flood have ended. @returns how many had not when the last was submitted */
async function flood(product: Product, jobs: number, onSubmitted: () => void = () => undefined): Promise<number> {
  const load = await product.openLoad(FLOOD_CONNECTIONS);
  const submission = product.submission();
  try {
    await load.run(jobs, async (send) => {
      const { status, body } = await send(submission);
      if (status !== 200) throw new Error(`a submission got status ${status}: ${body}`);
    });
  } finally {
    load.close();
  }
  onSubmitted();
  const { open } = await product.unfinished();
  while ((await product.unfinished()).open > 0) await new Promise((resolve) => setTimeout(resolve, 250));
  return open;
}
