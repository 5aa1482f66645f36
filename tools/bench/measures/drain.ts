import type { Session } from '../session';
import { median } from '../statistics';

/** Jobs per second from 20,000 waiting until the last has ended and its output is scanned; the median of three runs. */
export const drain = async (session: Session): Promise<number> =>
  median((await session.drains()).map(({ drain: { drainRate } }) => drainRate));
