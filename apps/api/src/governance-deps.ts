import { DatasetRepository, EvalRunRepository, type ExtractDeps } from '@svc/evals';
import { CachedReads, type GovernanceDeps, RedisDecisionLog } from '@svc/governance';
import type { Store } from '@svc/store';
import type { ApiEnv, gatewayMetrics, OpenMetrics } from '@svc/runtime';

interface Parts {
  store: Store;
  /** State of the audit chain of a tenant. */
  chainState: GovernanceDeps['chainState'];
  metrics: OpenMetrics<typeof gatewayMetrics>['metrics'];
}
type Owned = 'decisionLog' | 'chainState' | 'cache' | 'events';

/** Dependencies of governance, besides those of other policy reads. */
export function governanceDeps(
  env: Pick<ApiEnv, 'decisionLogTtlSec'>,
  { store, metrics, chainState }: Parts,
): Pick<GovernanceDeps, Owned> {
  return {
    decisionLog: new RedisDecisionLog(store, env.decisionLogTtlSec * 1_000),
    chainState,
    cache: new CachedReads(),
    events: {
      decisionsQueried(verdict, seconds) {
        metrics.governanceDecisionQueries.inc({ verdict });
        metrics.governanceDecisionSeconds.observe(seconds);
      },
      approvalsQueried(group_by, isCached, seconds) {
        metrics.approvalAnalyticsQueries.inc({ group_by });
        metrics.approvalAnalyticsSeconds.observe({ group_by }, seconds);
        metrics.approvalAnalyticsCache.inc({ outcome: isCached ? 'hit' : 'miss' });
      },
    },
  };
}

/** Time limit of an extraction; the time limit of handlers ends it earlier. */
const extractionMs = 60_000;

/** Dependencies of evaluation datasets and runs, besides those of policy evaluation. */
export const evalDeps = (
  env: Pick<ApiEnv, 'evalRunTtlSec' | 'httpWriteTimeoutMs'>,
  { store, metrics }: Omit<Parts, 'chainState'>,
): Pick<ExtractDeps, 'datasets' | 'evalRuns' | 'extractionTimeoutMs' | 'onExtracted'> => ({
  datasets: new DatasetRepository(store),
  evalRuns: new EvalRunRepository(store, env.evalRunTtlSec * 1_000),
  // The caller gets the reason rather than the time-out of the handler.
  extractionTimeoutMs: Math.min(extractionMs, Math.max(500, env.httpWriteTimeoutMs - 1_000)),
  onExtracted(outcome, seconds, deduped) {
    metrics.evalExtractions.inc({ verdict: outcome });
    metrics.evalExtractionSeconds.observe(seconds);
    metrics.evalEntriesDeduped.inc(deduped);
  },
});
