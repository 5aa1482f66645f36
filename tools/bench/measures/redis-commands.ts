import type { Session } from '../session';
import { median } from '../statistics';

/** Commands that Redis executes for a job from its POST to its end, those inside scripts included. */
export const redisCommands = async (session: Session): Promise<number> =>
  median((await session.drains()).map(({ drain }) => drain.commands / drain.jobs));
