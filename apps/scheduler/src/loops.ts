import {
  newRepairState,
  repairOpenJobs,
  repairSlots,
  replayIntents,
  sweepExpired,
  sweepSilentWorkers,
  buildWorkerSnapshot,
} from '@svc/dispatch';
import { completeStops } from '@svc/agents';
import { publishSpendAlerts } from '@svc/budget';
import { completeSuspensions } from '@svc/tenants';
import { finishDrains } from '@svc/registry';
import type { Loop } from '@svc/platform';
import { keys, type Store } from '@svc/store';
import type { SchedulerContext } from './context';

export interface LoopSettings {
  /** Owner of the leases. */
  owner: string;
  snapshotEveryMs: number;
  scanEveryMs: number;
  metaTtlSec: number;
  deadLettersKept: number;
  /** Pools whose drain has ended. */
  onDrained(pools: readonly string[]): void;
  /** A config notice could not be published; replicas find the change by themselves. */
  onNoticeFailed(error: unknown): void;
}

/** Bounds one run of the loop; each call lets a bounded number of jobs through, so that Redis serves others in between. */
const MAX_LIMIT_CALLS = 40;

/** Lets jobs through whose rate or debounce period allows it now. */
async function openLimits({ clock }: SchedulerContext, { limits }: Store): Promise<void> {
  for (let calls = 0; calls < MAX_LIMIT_CALLS; calls++) {
    const nextMs = await limits.open();
    if (nextMs === undefined || nextMs > clock.nowMs()) return;
  }
}

/** The scheduler's loops. See docs/reference/routing.md#repair. */
export function schedulerLoops(ctx: SchedulerContext, store: Store, settings: LoopSettings): Loop[] {
  const { owner, snapshotEveryMs, scanEveryMs, metaTtlSec, deadLettersKept, onDrained, onNoticeFailed } = settings;
  const repaired = newRepairState();
  const lease = (key: string, ttlMs: number) => store.lease(key, owner, ttlMs);
  return [
    { name: 'dispatch', everyMs: 1_000, run: () => ctx.laneDispatcher.dispatchToAll() },
    { name: 'agent-stops', everyMs: 500, atStart: true, run: () => completeStops(ctx.agentStops) },
    {
      name: 'tenant-stops',
      everyMs: 500,
      atStart: true,
      run: () => completeSuspensions({ store, cancelJob: ctx.agentStops.cancelJob }),
    },
    { name: 'limits', everyMs: 250, run: () => openLimits(ctx, store) },
    { name: 'load', everyMs: 500, atStart: true, run: () => ctx.refreshLoad() },
    { name: 'silent-workers', everyMs: 500, run: () => sweepSilentWorkers(ctx) },
    {
      name: 'worker-snapshot',
      everyMs: snapshotEveryMs,
      atStart: true,
      lease: lease(keys.snapshotLease('writer'), Math.max(10_000, 2 * snapshotEveryMs)),
      run: () => store.workers.writeSnapshot(buildWorkerSnapshot(ctx)),
    },
    {
      name: 'replayer',
      everyMs: 5_000,
      atStart: true,
      lease: lease(keys.replayerLease('pending'), 10_000),
      run: () => replayIntents(ctx),
    },
    {
      name: 'spend-alerts',
      everyMs: 1_000,
      lease: lease(keys.spendAlertsLease(), 10_000),
      run: () => publishSpendAlerts(ctx),
    },
    {
      name: 'reconciler',
      everyMs: scanEveryMs,
      atStart: true,
      lease: lease(keys.reconcilerLease('default'), 2 * scanEveryMs),
      run: async () => {
        const startedUs = ctx.clock.nowUs();
        await repairOpenJobs(ctx, repaired);
        await repairSlots(ctx, repaired);
        ctx.events.reconciled((ctx.clock.nowUs() - startedUs) / 1_000);
      },
      standBy: () => ctx.events.openJobs([]),
    },
    {
      name: 'pool-drain',
      everyMs: 10_000,
      atStart: true,
      lease: lease(keys.poolDrainLease(), 20_000),
      run: async () => {
        await store.config.refreshOpenPools();
        const drained = await finishDrains({ ...ctx, onNoticeFailed });
        if (drained.length > 0) onDrained(drained);
      },
    },
    {
      name: 'dlq-cleanup',
      everyMs: 3_600_000,
      atStart: true,
      lease: lease(keys.dlqCleanupLease(), 300_000),
      run: () => sweepExpired(ctx, metaTtlSec, deadLettersKept),
    },
  ];
}
