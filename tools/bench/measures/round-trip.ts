import type { Session } from '../session';
import { percentile } from '../statistics';
import { commonChain } from '../trace/messages';

/** From the POST until the waiting client has the result, one job in flight, ms. */
export const roundTrip1 =
  (share: number) =>
  async (session: Session): Promise<number> =>
    percentile((await session.roundTrip1()).ms, share);

/** Jobs per second of 64 clients that each wait for the result before they submit the next job. */
export const roundTrip64 = async (session: Session): Promise<number> => (await session.roundTrip64()).rate;

/** The same with a worker that speaks only the plain protocol. */
export const roundTrip64Foreign = async (session: Session): Promise<number> =>
  (await session.roundTrip64Foreign()).rate;

/** Sequential messages of a lone round trip: the most frequent length of the recorded chains. */
export async function roundTripMessages(session: Session): Promise<number> {
  const chain = commonChain(await session.messages());
  session.say(chain.map((message, i) => `${String(i + 1).padStart(4)}  ${message}`).join('\n'));
  return chain.length;
}
