import type { Redis } from 'ioredis';
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { getBlockSize, Leases, type Counted, type Counters } from './rate-leases';
import { isTighter, RateWindows, type RateWindow } from './rate-windows';

/** Sustained requests per second, and burst size. */
export interface RateLimit {
  rps: number;
  burst: number;
}

export interface RateVerdict {
  allowed: boolean;
  /** `X-RateLimit-*`, and `Retry-After` on rejection. */
  headers: Readonly<Record<string, string>>;
}

/** Takes one request out of a bucket such as `tenant:acme` or `ip:10.0.0.1`. */
export type RateLimiter = (bucket: string) => Promise<RateVerdict>;

export interface RateLimiterOptions {
  /** Shared by all replicas; absent = each replica uses buckets in memory. */
  redis?: Redis;
  /** Store keys are `<keyPrefix>:<bucket>`. */
  keyPrefix: string;
  /** Read on every request, so that a license reload takes effect immediately. */
  limit(): RateLimit;
  /** Additional limits of a bucket, such as tenant settings. Must not read Redis on every request. */
  windows?(bucket: string): Promise<readonly RateWindow[]>;
  nowMs(): number;
  /** The shared counters are unavailable; the request is rejected. */
  onStoreFailed?(error: unknown): void;
}

/** A configured limit under what the license grants: 0 and -1 grant any rate. See docs/reference/http.md#requests. */
export const cappedBy = ({ rps, burst }: RateLimit, requestsPerSecond: number): RateLimit =>
  requestsPerSecond > 0
    ? { rps: Math.min(rps, requestsPerSecond), burst: Math.min(burst, 2 * requestsPerSecond) }
    : { rps, burst };

/**
 * Approximates a token bucket with counters: `rps` per second, plus `burst - rps` in the time an empty bucket takes to
 * fill. Requests are rejected while Redis is unavailable, so that an attacker who can stall Redis cannot disable the limit.
 */
export function rateLimiter(options: RateLimiterOptions): RateLimiter {
  const { redis, keyPrefix, limit, windows, nowMs, onStoreFailed } = options;
  const narrower = new RateWindows(({ points, sec }) => counter(points, sec, `${keyPrefix}:${sec}s`, redis), nowMs);
  let built = limit();
  let leases = leasesFor(built, keyPrefix, redis);

  const take = async (bucket: string): Promise<Counted> => {
    const counted = await leases.take(bucket, nowMs());
    const own = counted.refused ? [] : ((await windows?.(bucket)) ?? []);
    if (own.length === 0) return counted;
    const ofOwn = await narrower.take(bucket, own);
    return isTighter(ofOwn, counted) ? ofOwn : counted;
  };

  return async (bucket) => {
    const wanted = limit();
    if (wanted.rps !== built.rps || wanted.burst !== built.burst) {
      built = wanted;
      leases = leasesFor(built, keyPrefix, redis);
    }
    try {
      return toVerdict(await take(bucket), nowMs());
    } catch (error) {
      onStoreFailed?.(error);
      const points = Math.min(built.rps, built.burst);
      return toVerdict({ refused: true, points, remainingPoints: 0, msBeforeNext: 1_000 }, nowMs());
    }
  };
}

function toVerdict({ refused, points, remainingPoints, msBeforeNext }: Counted, nowMs: number): RateVerdict {
  const headers = {
    'X-RateLimit-Limit': String(points),
    'X-RateLimit-Remaining': String(Math.max(0, remainingPoints)),
    'X-RateLimit-Reset': String(Math.ceil((nowMs + msBeforeNext) / 1_000)),
  };
  if (!refused) return { allowed: true, headers };
  return {
    allowed: false,
    headers: { ...headers, 'Retry-After': String(Math.max(1, Math.ceil(msBeforeNext / 1_000))) },
  };
}

const leasesFor = (limit: RateLimit, keyPrefix: string, redis: Redis | undefined): Leases =>
  new Leases(countersFor(limit, keyPrefix, redis), getBlockSize(limit.rps));

function countersFor({ rps, burst }: RateLimit, keyPrefix: string, redis: Redis | undefined): Counters {
  const points = Math.min(rps, burst);
  const steady = store(points, 1, keyPrefix, redis);
  if (burst <= rps) return counted(steady, points);
  const beyond = store(burst - rps, Math.ceil(burst / rps), `${keyPrefix}:burst`, redis);
  return counted(new BurstyRateLimiter(steady, beyond), points);
}

const counter = (points: number, durationSec: number, keyPrefix: string, redis: Redis | undefined): Counters =>
  counted(store(points, durationSec, keyPrefix, redis), points);

function store(points: number, durationSec: number, keyPrefix: string, redis: Redis | undefined) {
  // An exhausted bucket is rejected from memory, so a flood causes no Redis load.
  const options = { points, duration: durationSec, keyPrefix };
  return redis
    ? new RateLimiterRedis({
        ...options,
        storeClient: redis,
        inMemoryBlockOnConsumed: points,
        rejectIfRedisNotReady: true,
      })
    : new RateLimiterMemory(options);
}

/** The library throws the result of a rejection. */
const counted = (limiter: Pick<RateLimiterRedis, 'consume'>, points: number): Counters => ({
  async consume(bucket, taken = 1) {
    try {
      const { remainingPoints, msBeforeNext } = await limiter.consume(bucket, taken);
      return { refused: false, points, remainingPoints, msBeforeNext };
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      const { remainingPoints, msBeforeNext } = refused;
      return { refused: true, points, remainingPoints, msBeforeNext };
    }
  },
});
