import type { Session } from '../session';

/** Jobs per second as for `drain`, with 100,000 ended jobs in the store. */
export async function drain100k(session: Session): Promise<number> {
  const product = await session.stocked();
  return (await session.drainOnce(product, session.sizes.drain, 'drain with stored jobs')).drainRate;
}
