import type { Store } from '@svc/store';

const settings = {
  /** Age after which a due time counts as missed by its entry; the queue of a service with a slow clock is late as well. */
  lateMs: 1_000,
  /** Longer than the retry interval of waiting starts. */
  unseenMs: 60_000,
  atOnce: 1_000,
};

/**
 * Requeues schedules that are due or have pending starts, and have no queue entry.
 *
 * @returns number of requeued schedules; normally 0
 */
export async function sweepSchedules(
  { store }: { store: Pick<Store, 'schedules'> },
  { lateMs, unseenMs, atOnce } = settings,
): Promise<number> {
  const ids = await store.schedules.overdue(lateMs, unseenMs, atOnce);
  const requeued = await Promise.all(ids.map((id) => store.schedules.requeue(id, unseenMs)));
  return requeued.filter(Boolean).length;
}
