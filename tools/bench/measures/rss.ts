import type { Session } from '../session';
import type { Costed } from './cpu';

/** Memory of an idle process after its start, MB. */
export const rssAtRest =
  (process: Costed) =>
  async (session: Session): Promise<number> => {
    const { restMb } = await session.product();
    return restMb[process] ?? 0;
  };

/** Memory of a process after the nth drain, counted from 1 (negative: from the last), MB. */
export const rssAfter =
  (process: Costed, nth: number) =>
  async (session: Session): Promise<number> => {
    const drains = await session.drains();
    return drains.at(nth < 0 ? nth : nth - 1)?.afterMb[process] ?? 0;
  };
