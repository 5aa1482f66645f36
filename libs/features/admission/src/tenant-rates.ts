import { type EffectiveConfig, numberAt } from '@svc/settings';

/** At most so many requests in each so many seconds. */
interface Window {
  points: number;
  sec: number;
}

/** Settings of the section `rate_limits`, and how long a window of each is. */
const windowSec = { burst_size: 1, requests_per_minute: 60, requests_per_hour: 3_600 } as const;
const prefix = 'tenant:';

/**
 * The request rate that a tenant's config permits, in addition to the limit of the installation and the license. Only what
 * is set counts; 0 sets nothing. Config is read from memory; while it cannot be renewed, the last one applies.
 * See docs/settings.md#rate_limits.
 *
 * @returns takes the name of a bucket, such as `tenant:acme`; buckets of no tenant have no such limits
 */
export function tenantRates(config: Pick<EffectiveConfig, 'at'>): (bucket: string) => Promise<readonly Window[]> {
  const made = new WeakMap<object, readonly Window[]>();
  const last = new Map<string, readonly Window[]>();
  return async (bucket) => {
    if (!bucket.startsWith(prefix)) return [];
    let data: Record<string, unknown> | undefined;
    try {
      data = await config.at({ tenant: bucket.slice(prefix.length) });
    } catch {
      // Who can stall the store must not lift the limit; that the store fails is told by everything else.
      return last.get(bucket) ?? [];
    }
    const windows = data ? (made.get(data) ?? windowsOf(data)) : [];
    if (data) made.set(data, windows);
    if (last.size > 10_000) last.clear();
    last.set(bucket, windows);
    return windows;
  };
}

const windowsOf = (data: Record<string, unknown>): Window[] =>
  Object.entries(windowSec).flatMap(([setting, sec]) => {
    const points = numberAt(data, 'rate_limits', setting) ?? 0;
    return Number.isInteger(points) && points > 0 ? [{ points, sec }] : [];
  });
