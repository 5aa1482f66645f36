import { hasRoom } from '@svc/routing';
import { countEntries, type WorkerHooks } from '@svc/queues';
import { queues } from '@svc/queues.config';
import type { approvalMetrics, commonMetrics, OpenMetrics, schedulerMetrics } from '@svc/runtime';
import type { SchedulerContext } from './context';

type Opened = OpenMetrics<typeof schedulerMetrics & typeof commonMetrics & typeof approvalMetrics>;

/** Registers the gauges whose values are read at scrape time. */
export function readGauges({ metrics, onScrape }: Pick<Opened, 'metrics' | 'onScrape'>, ctx: SchedulerContext): void {
  onScrape(async () => {
    const counts = await countEntries(ctx.store.redis, queues);
    metrics.queueDepth.replace(counts.map(({ queue, state, count }) => ({ labels: { queue, state }, value: count })));
    const held = counts.find(({ queue, state }) => queue === queues.jobApprovals.name && state === 'delayed');
    metrics.approvalQueueDepth.set({ risk_tier: 'all' }, held?.count ?? 0);
  });
  onScrape(async () => {
    const revisions = await ctx.store.config.revisions('system', systemDocuments);
    metrics.configRevision.replace([...revisions].map(([document, value]) => ({ labels: { document }, value })));
  });
  onScrape(async () => {
    const { input, output } = await ctx.kernel.breakers();
    metrics.circuitState.set({ breaker: 'input' }, breakerNumber[input.state]);
    metrics.circuitState.set({ breaker: 'output' }, breakerNumber[output.state]);
  });
  onScrape(() => {
    const nowMs = ctx.clock.nowMs();
    const workers = ctx.registry.routable(nowMs);
    const pools = [...new Set(workers.map(({ pool }) => pool))];
    const table = ctx.fleet.pools().pools;
    const isDraining = (pool: string) => Object.hasOwn(table, pool) && table[pool]?.status === 'draining';
    const states = ['ready', 'overloaded', 'draining'] as const;
    metrics.workers.replace(
      pools.flatMap((pool) =>
        states.map((state) => ({
          labels: { pool, state },
          value: workers.filter((worker) => worker.pool === pool && getWorkerState(worker, isDraining(pool)) === state)
            .length,
        })),
      ),
    );
    const records = ctx.registry.records();
    metrics.workerHeartbeatAgeSeconds.replace(
      pools.map((pool) => {
        const ages = records.filter((p) => p.pool === pool).map((p) => (nowMs - p.last_heartbeat_ms) / 1_000);
        return { labels: { pool }, value: Math.max(0, ...ages) };
      }),
    );
  });
}

/** System documents only: labels for tenants' documents would be unbounded. */
const systemDocuments = ['default', 'policy', 'topics', 'packs', 'pack_catalogs', 'workers'];

const breakerNumber = { closed: 0, open: 1, half_open: 2 } as const;

const getWorkerState = (
  worker: Parameters<typeof hasRoom>[0],
  isPoolDraining: boolean,
): 'ready' | 'overloaded' | 'draining' => {
  if (worker.draining || isPoolDraining) return 'draining';
  return hasRoom(worker) ? 'ready' : 'overloaded';
};

/** Measures the entries that this replica takes from its queues. */
export const queueHooks = ({
  inflightHandlers,
  queueWaitSeconds,
}: Pick<Opened['metrics'], 'inflightHandlers' | 'queueWaitSeconds'>): Required<
  Pick<WorkerHooks, 'onStarted' | 'onEnded'>
> => ({
  onStarted(queue, waitedMs) {
    inflightHandlers.inc();
    if (waitedMs !== undefined) queueWaitSeconds.observe({ queue }, waitedMs / 1_000);
  },
  onEnded: () => inflightHandlers.dec(),
});
