import type { Session } from '../session';
import { median } from '../statistics';

/** Jobs accepted per second over HTTP, 64 connections: authenticated, validated, decided by policy, durably enqueued. */
export const submit = async (session: Session): Promise<number> =>
  median((await session.drains()).map(({ drain }) => drain.submitRate));
