import { defaultSettings } from '@svc/contract';
import type { RetrySettings } from '@svc/routing';
import { section } from '@svc/settings';

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Parses `500ms`, `1s`, `2m` or `1h`; the default for any other value. */
function durationMs(text: unknown, standard: string): number {
  const read = (value: string) => {
    const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(value) ?? [];
    return number && unit ? Number(number) * (unitMs[unit] ?? 1) : undefined;
  };
  return (typeof text === 'string' ? read(text) : undefined) ?? read(standard) ?? 1_000;
}

/** Section `retry` of effective config over its defaults. */
export function retrySettings(config: Record<string, unknown> | undefined): RetrySettings {
  const defaults = defaultSettings.retry;
  const own = section<Record<string, unknown>>(config, 'retry', { ...defaults });
  const list = (value: unknown, standard: readonly string[]) =>
    Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : standard;
  const number = (value: unknown, standard: number) => (typeof value === 'number' && value >= 0 ? value : standard);
  return {
    maxRetries: number(own['max_retries'], defaults.max_retries),
    initialBackoffMs: durationMs(own['initial_backoff'], defaults.initial_backoff),
    maxBackoffMs: durationMs(own['max_backoff'], defaults.max_backoff),
    multiplier: number(own['backoff_multiplier'], defaults.backoff_multiplier),
    retryableErrors: list(own['retryable_errors'], defaults.retryable_errors),
    nonRetryableErrors: list(own['non_retryable_errors'], defaults.non_retryable_errors),
  };
}
