import { queues } from '@svc/queues.config';
import { fireDueTimers, removeExpiredRuns, repairRuns, sweepSchedules } from '@svc/workflows';
import type { Loop } from '@svc/platform';
import { keys } from '@svc/store';
import type { EngineContext } from './context';

export interface LoopSettings {
  /** Owner of the leases. */
  owner: string;
  scanEveryMs: number;
  scanLimit: number;
  pollEveryMs: number;
}

const sweepBatchSize = 500;

/** The engine's loops. See docs/reference/workflows.md#how-a-run-proceeds. */
export function engineLoops(ctx: EngineContext, settings: LoopSettings): Loop[] {
  const { owner, scanEveryMs, scanLimit, pollEveryMs } = settings;
  const lease = (key: string, ttlMs: number) => ctx.store.lease(key, owner, ttlMs);
  return [
    { name: 'load', everyMs: 500, atStart: true, run: () => ctx.refreshLoad() },
    {
      name: 'timers',
      everyMs: pollEveryMs,
      atStart: true,
      lease: lease(keys.timerPollerLease(), 3 * pollEveryMs),
      run: () => fireDueTimers(ctx),
    },
    {
      name: 'runs',
      everyMs: scanEveryMs,
      atStart: true,
      lease: lease(keys.runReconcilerLease('0'), 2 * scanEveryMs),
      run: () => repairRuns(ctx, scanLimit),
    },
    {
      name: 'schedules',
      everyMs: 1_000,
      atStart: true,
      lease: lease(keys.runReconcilerLease('schedules'), 3_000),
      run: () => sweepSchedules(ctx),
    },
    {
      name: 'forget',
      everyMs: 60_000,
      lease: lease(keys.runReconcilerLease('forget'), 120_000),
      run: () => sweep(ctx),
    },
  ];
}

/** Deletes runs and flows whose retention period has passed. */
async function sweep(ctx: EngineContext): Promise<void> {
  await removeExpiredRuns(ctx);
  const { completedSec: completed, failedSec: failed } = queues.runs.keep;
  await ctx.store.runIndex.sweepFlows({ completed, failed }, sweepBatchSize);
}
