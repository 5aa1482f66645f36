/** Section `retry` of the config. Durations in ms. See docs/settings.md#retry. */
export interface RetrySettings {
  maxRetries: number;
  initialBackoffMs: number;
  maxBackoffMs: number;
  multiplier: number;
  retryableErrors: readonly string[];
  nonRetryableErrors: readonly string[];
}

/**
 * How long to wait before the n-th retry (from 1), with up to 20 % spread so that retries do not come in step.
 *
 * @param random in [0, 1)
 */
export function backoffMs(settings: RetrySettings, retry: number, random: () => number): number {
  const plain = settings.initialBackoffMs * settings.multiplier ** Math.max(0, retry - 1);
  return Math.min(settings.maxBackoffMs, plain) * (1 + 0.2 * random());
}

/** Is a failure worth another try? A non-retryable code wins over everything. See docs/reference/jobs.md#retries. */
export function isRetryable(
  status: 'FAILED' | 'FAILED_RETRYABLE' | 'FAILED_FATAL',
  code: string,
  settings: RetrySettings,
): boolean {
  if (settings.nonRetryableErrors.includes(code)) return false;
  return status === 'FAILED_RETRYABLE' || (status === 'FAILED' && settings.retryableErrors.includes(code));
}
