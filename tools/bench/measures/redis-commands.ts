import type { Session } from '../session';
import { median } from '../statistics';

/** Redis commands per job from its POST to its end, including those inside scripts. */
export const redisCommands = async (session: Session): Promise<number> =>
  median((await session.drains()).map(({ drain }) => drain.commands / drain.jobs));
