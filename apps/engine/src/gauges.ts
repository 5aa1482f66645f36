import type { engineMetrics, OpenMetrics } from '@svc/runtime';
import type { EngineContext } from './context';

type Opened = OpenMetrics<typeof engineMetrics>;

/** What is read when somebody asks for metrics. Depths of queues are the scheduler's to tell. */
export function readGauges({ metrics, onScrape }: Pick<Opened, 'metrics' | 'onScrape'>, ctx: EngineContext): void {
  onScrape(async () => metrics.runsActive.set(await ctx.store.runIndex.allActive()));
}
