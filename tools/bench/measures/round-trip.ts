import type { Session } from '../session';
import { percentile } from '../statistics';

/** From the POST until the waiting client has the result, one job in flight, ms. */
export const roundTrip1 =
  (share: number) =>
  async (session: Session): Promise<number> =>
    percentile((await session.roundTrip1()).ms, share);

/** Jobs per second of 64 clients that each wait for the result before they submit the next job. */
export const roundTrip64 = async (session: Session): Promise<number> => (await session.roundTrip64()).rate;
