import { decodePacket, subjects } from '@svc/contract';
import { connect } from 'nats';
import type { Product } from './product';

export interface RoundTrips {
  /** From the first byte of the POST to the answer that shows the job at its end, for each job, ms. */
  ms: number[];
  /** Jobs a second over all. */
  rate: number;
}

/**
 * Clients that submit a job and wait for its result, one job each at a time: POST, then the notice on the bus that stream
 * clients are given, then GET until the job shows its end.
 *
 * @throws Error when a job ends otherwise than SUCCEEDED
 */
export async function roundTrips(product: Product, inFlight: number, count: number): Promise<RoundTrips> {
  const load = await product.openLoad(inFlight);
  const results = await listen(product.stack.info.nats_url);
  const submission = product.submission();
  const ms: number[] = [];
  const startedMs = performance.now();
  try {
    await load.run(count, async (send) => {
      const sentMs = performance.now();
      const accepted = await send(submission);
      if (accepted.status !== 200) throw new Error(`a submission was answered ${accepted.status}: ${accepted.body}`);
      const { job_id: id } = JSON.parse(accepted.body) as { job_id: string };
      await results.of(id);
      const state = await untilEnded(async () => (await send(product.get(`/api/v1/jobs/${id}`))).body);
      if (state !== 'SUCCEEDED') throw new Error(`job ${id} ended ${state}`);
      ms.push(performance.now() - sentMs);
    });
    return { ms, rate: (count / (performance.now() - startedMs)) * 1_000 };
  } finally {
    load.close();
    await results.close();
  }
}

const noticeWithinMs = 60_000;
const underWay = ['PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING', 'RETRYING'];

/** The worker's result is on the bus before the scheduler has written it, so the first look may come too early. */
async function untilEnded(look: () => Promise<string>): Promise<string> {
  for (;;) {
    const { state } = JSON.parse(await look()) as { state: string };
    if (!underWay.includes(state)) return state;
  }
}

async function listen(natsUrl: string) {
  const connection = await connect({ servers: natsUrl });
  const early = new Set<string>();
  const waiting = new Map<string, () => void>();
  const noticeOf = (id: string) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`no result of job ${id} within ${noticeWithinMs} ms`)),
        noticeWithinMs,
      );
      waiting.set(id, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  connection.subscribe(subjects.jobResult.name, {
    callback: (_error, { data }) => {
      const decoded = decodePacket(data);
      if (decoded.kind !== 'ok' || decoded.packet.kind !== 'job_result') return;
      const { job_id: id } = decoded.packet.body;
      const resume = waiting.get(id);
      if (!resume) early.add(id);
      waiting.delete(id);
      resume?.();
    },
  });
  await connection.flush();
  return {
    of: (id: string) => (early.delete(id) ? Promise.resolve() : noticeOf(id)),
    close: () => connection.close(),
  };
}
