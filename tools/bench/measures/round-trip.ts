import type { Session } from '../session';
import { percentile } from '../statistics';

/** From POST to the result in the hands of a waiting client, one job in flight, ms. */
export const roundTrip1 =
  (share: number) =>
  async (session: Session): Promise<number> =>
    percentile((await session.roundTrip1()).ms, share);

/** Jobs a second of 64 clients that each wait for the result before they submit the next. */
export const roundTrip64 = async (session: Session): Promise<number> => (await session.roundTrip64()).rate;
