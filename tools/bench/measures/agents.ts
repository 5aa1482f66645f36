import { agentStopTimes } from '../agent-stop';
import type { Session } from '../session';
import { percentile } from '../statistics';

/** From the suspension of an agent to the cancel packets of its running jobs: p99, ms. */
export async function agentStop(session: Session): Promise<number> {
  const { product } = await session.product();
  return percentile(await agentStopTimes(product, session.sizes.stopped), 0.99);
}
