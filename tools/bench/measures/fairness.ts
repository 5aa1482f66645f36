import type { Session } from '../session';

/** See `measureFairness`. */
export const fairness = (session: Session): Promise<number> => session.fairness();
