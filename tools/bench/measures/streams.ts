import type { Session } from '../session';
import { percentile } from '../statistics';
import { fanOutRate, streamLatencies } from '../streams';

const CLIENTS = 200;

/** Events per second that reach 200 WebSocket clients, together. */
export async function streamFanOut(session: Session): Promise<number> {
  const { product } = await session.product();
  return fanOutRate(product, CLIENTS, session.sizes.streamed);
}

/** From the publish of a worker to the client of the job: p99, ms. */
export async function streamLatency(session: Session): Promise<number> {
  const { product } = await session.product();
  return percentile(await streamLatencies(product, session.sizes.reports), 0.99);
}
