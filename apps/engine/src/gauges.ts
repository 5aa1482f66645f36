import type { WorkerHooks } from '@svc/queues';
import type { commonMetrics, engineMetrics, Handles, OpenMetrics } from '@svc/runtime';
import type { EngineContext } from './context';

type Opened = OpenMetrics<typeof engineMetrics>;

/** Registers the gauges read at scrape time. The scheduler reports queue depths. */
export function readGauges({ metrics, onScrape }: Pick<Opened, 'metrics' | 'onScrape'>, ctx: EngineContext): void {
  onScrape(async () => metrics.runsActive.set(await ctx.store.runIndex.allActive()));
}

/** Measures the entries that this replica takes from its queues. */
export const queueHooks = ({
  queueWaitSeconds,
}: Handles<Pick<typeof commonMetrics, 'queueWaitSeconds'>>): Required<Pick<WorkerHooks, 'onStarted'>> => ({
  onStarted(queue, waitedMs) {
    if (waitedMs !== undefined) queueWaitSeconds.observe({ queue }, waitedMs / 1_000);
  },
});
