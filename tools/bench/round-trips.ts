import type { Product } from './product';

export interface RoundTrips {
  /** From the first byte of the POST to the response with the ended job, for each job, ms. */
  ms: number[];
  /** Jobs per second over all. */
  rate: number;
}

/**
 * Clients that submit a job and wait for its result, one job each at a time: POST, then one GET that responds when the
 * job has ended.
 *
 * @throws Error when a job does not succeed
 */
export async function roundTrips(product: Product, inFlight: number, count: number): Promise<RoundTrips> {
  const load = await product.openLoad(inFlight);
  const submission = product.submission();
  const ms: number[] = [];
  const startedMs = performance.now();
  try {
    await load.run(count, async (send) => {
      const sentMs = performance.now();
      const accepted = await send(submission);
      if (accepted.status !== 200) throw new Error(`a submission got status ${accepted.status}: ${accepted.body}`);
      const { job_id: id } = JSON.parse(accepted.body) as { job_id: string };
      const { body } = await send(product.get(`/api/v1/jobs/${id}?wait_ms=20000`));
      const { state } = JSON.parse(body) as { state: string };
      if (state !== 'SUCCEEDED') throw new Error(`job ${id} is ${state} after 20 s`);
      ms.push(performance.now() - sentMs);
    });
    return { ms, rate: (count / (performance.now() - startedMs)) * 1_000 };
  } finally {
    load.close();
  }
}
