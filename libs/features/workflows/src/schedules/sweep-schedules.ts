import type { Store } from '@svc/store';

const settings = {
  /** A time that came so long ago should have been claimed; where a service's clock is behind, its queue is as late. */
  lateMs: 1_000,
  /** Starts that wait are looked at more often than that. */
  unseenMs: 60_000,
  atOnce: 1_000,
};

/**
 * Brings schedules to an engine whose time has come, or whose starts nobody makes, and which no queue entry carries any
 * more.
 *
 * @returns how many; there should be none
 */
export async function sweepSchedules(
  { store }: { store: Pick<Store, 'schedules'> },
  { lateMs, unseenMs, atOnce } = settings,
): Promise<number> {
  const ids = await store.schedules.overdue(lateMs, unseenMs, atOnce);
  const mended = await Promise.all(ids.map((id) => store.schedules.recarry(id, unseenMs)));
  return mended.filter(Boolean).length;
}
