import { type EffectiveConfig, numberAt } from '@svc/settings';

/** Maximum number of requests (`points`) in a window of `sec` seconds. */
interface Window {
  points: number;
  sec: number;
}

/** Window length of each setting in the section `rate_limits`. */
const windowSec = { burst_size: 1, requests_per_minute: 60, requests_per_hour: 3_600 } as const;
const prefix = 'tenant:';

/**
 * Request rates from a tenant's config, in addition to the limits of the installation and the license. An absent setting or 0
 * is no limit. Config is read from memory; while it cannot be refreshed, the last one applies.
 * See docs/settings.md#rate_limits.
 *
 * @returns a function of the bucket name, such as `tenant:acme`; other buckets have no tenant limits
 */
export function tenantRates(config: Pick<EffectiveConfig, 'at'>): (bucket: string) => Promise<readonly Window[]> {
  const windowsByConfig = new WeakMap<object, readonly Window[]>();
  const last = new Map<string, readonly Window[]>();
  return async (bucket) => {
    if (!bucket.startsWith(prefix)) return [];
    let data: Record<string, unknown> | undefined;
    try {
      data = await config.at({ tenant: bucket.slice(prefix.length) });
    } catch {
      // Stalling the store must not lift the limit. The failure itself is reported by other checks.
      return last.get(bucket) ?? [];
    }
    const windows = data ? (windowsByConfig.get(data) ?? toWindows(data)) : [];
    if (data) windowsByConfig.set(data, windows);
    if (last.size > 10_000) last.clear();
    last.set(bucket, windows);
    return windows;
  };
}

const toWindows = (data: Record<string, unknown>): Window[] =>
  Object.entries(windowSec).flatMap(([setting, sec]) => {
    const points = numberAt(data, 'rate_limits', setting) ?? 0;
    return Number.isInteger(points) && points > 0 ? [{ points, sec }] : [];
  });
