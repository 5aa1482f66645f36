import { type LimitFields, parseDurationMs } from '@svc/contract';
import type { JobLimits } from '@svc/store';
import { type IntentDeps, publishIntent } from './publish-intent';

/** Periods after which a debounced job starts although submissions continue. */
const DEFAULT_MAX_PERIODS = 10;

/** The limits of a submission as they are stored; undefined when it names none. */
export function toJobLimits({ concurrency, rate, debounce, singleton }: LimitFields): JobLimits | undefined {
  if (!concurrency && !rate && !debounce && !singleton) return undefined;
  return {
    ...(concurrency && { concurrency }),
    ...(rate && { rate: { key: rate.key, limit: rate.limit, per_ms: parseDurationMs(rate.per) } }),
    ...(debounce && { debounce: toDebounce(debounce) }),
    ...(singleton && { singleton }),
  };
}

function toDebounce({ key, period, max_wait: maxWait }: NonNullable<LimitFields['debounce']>) {
  const periodMs = parseDurationMs(period);
  const maxMs = maxWait === undefined ? DEFAULT_MAX_PERIODS * periodMs : parseDurationMs(maxWait);
  return { key, period_ms: periodMs, max_ms: maxMs };
}

const toText = (ms: number): string => `${ms / 1_000}s`;

/** Stored limits as readers of the job see them. */
export function toLimitFields({ concurrency, rate, debounce, singleton }: JobLimits): LimitFields {
  return {
    ...(concurrency && { concurrency }),
    ...(rate && { rate: { key: rate.key, limit: rate.limit, per: toText(rate.per_ms) } }),
    ...(debounce && {
      debounce: { key: debounce.key, period: toText(debounce.period_ms), max_wait: toText(debounce.max_ms) },
    }),
    ...(singleton && { singleton }),
  };
}

export interface CancelledDeps extends IntentDeps {
  /** @param limit `concurrency` or `debounce` */
  onCancelledByLimit(limit: 'concurrency' | 'debounce'): void;
  onPublishFailed(jobId: string, error: unknown): void;
}

/**
 * Publishes the ends of jobs that the limits of another one cancelled. Their records hold the messages: after a crash the
 * replayer publishes them.
 */
export async function publishCancelled(deps: CancelledDeps, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    try {
      const job = await deps.store.jobs.load(id);
      if (!job) continue;
      deps.onCancelledByLimit(job.error_code === 'debounced' ? 'debounce' : 'concurrency');
      await publishIntent(deps, job);
    } catch (error) {
      deps.onPublishFailed(id, error);
    }
  }
}
