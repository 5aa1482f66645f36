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
 * Delay before the n-th retry (from 1), with up to 20 % jitter to spread retries.
 *
 * @param random in [0, 1)
 */
export function backoffMs(settings: RetrySettings, retry: number, random: () => number): number {
  const plain = settings.initialBackoffMs * settings.multiplier ** Math.max(0, retry - 1);
  return Math.min(settings.maxBackoffMs, plain) * (1 + 0.2 * random());
}

/** Whether a failure is retried. A non-retryable code always wins. See docs/reference/jobs.md#retries. */
export function isRetryable(
  status: 'FAILED' | 'FAILED_RETRYABLE' | 'FAILED_FATAL',
  code: string,
  settings: RetrySettings,
): boolean {
  if (settings.nonRetryableErrors.includes(code)) return false;
  return status === 'FAILED_RETRYABLE' || (status === 'FAILED' && settings.retryableErrors.includes(code));
}
