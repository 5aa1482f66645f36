import type { Redis } from 'ioredis';
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';

/** Requests per second that are sustained, and how many may come at once after a pause. */
export interface RateLimit {
  rps: number;
  burst: number;
}

export interface RateVerdict {
  allowed: boolean;
  /** `X-RateLimit-*`, and `Retry-After` on refusal. */
  headers: Readonly<Record<string, string>>;
}

/** Takes one request out of a bucket such as `tenant:acme` or `ip:10.0.0.1`. */
export type RateLimiter = (bucket: string) => Promise<RateVerdict>;

export interface RateLimiterOptions {
  /** Shared by all replicas; absent = each keeps its own buckets in memory. */
  redis?: Redis;
  /** Store keys are `<keyPrefix>:<bucket>`. */
  keyPrefix: string;
  /** Asked on every request, so that a license reload takes effect at once. */
  limit(): RateLimit;
  nowMs(): number;
  /** The shared counters could not be asked; the request is refused. */
  onStoreFailed?(error: unknown): void;
}

/** A configured limit under what the license grants: 0 and -1 grant any rate. Core contract 1.6, identity contract 9.3. */
export const cappedBy = ({ rps, burst }: RateLimit, requestsPerSecond: number): RateLimit =>
  requestsPerSecond > 0
    ? { rps: Math.min(rps, requestsPerSecond), burst: Math.min(burst, 2 * requestsPerSecond) }
    : { rps, burst };

/** Of a generous limit, requests are taken from the store some at a time; of a small one, one by one, so that it is exact. */
const blockOf = ({ rps }: RateLimit): number => Math.min(32, Math.max(1, Math.floor(rps / 50)));

interface Lease {
  left: number;
  state: RateLimiterRes;
  /** Unix ms: what is left then goes with the window it was taken from. */
  endsMs: number;
}

/** Requests taken from the shared counters and not used yet, by bucket. At most one block a process is ever left unused. */
class Leases {
  private readonly held = new Map<string, Lease>();
  private readonly asking = new Map<string, Promise<Lease>>();

  /** @throws RateLimiterRes when the bucket is used up, or what the store throws */
  async take(bucket: string, counters: Counters, block: number, nowMs: number): Promise<RateLimiterRes> {
    if (block === 1) return counters.consume(bucket);
    for (;;) {
      const lease = this.held.get(bucket);
      if (lease && lease.left > 0 && lease.endsMs > nowMs) {
        lease.left--;
        return new RateLimiterRes(lease.state.remainingPoints + lease.left, lease.endsMs - nowMs);
      }
      const asking = this.asking.get(bucket) ?? this.ask(bucket, counters, block, nowMs);
      this.asking.set(bucket, asking);
      await asking;
    }
  }

  private async ask(bucket: string, counters: Counters, block: number, nowMs: number): Promise<Lease> {
    try {
      const state = await counters.consume(bucket, block);
      const lease = { left: block, state, endsMs: nowMs + Math.max(1, state.msBeforeNext) };
      // Buckets of callers that went away are dropped now and then.
      if (this.held.size > 10_000) this.held.clear();
      this.held.set(bucket, lease);
      return lease;
    } finally {
      this.asking.delete(bucket);
    }
  }
}

type Counters = Pick<RateLimiterRedis, 'consume'>;

/**
 * The nearest the store's counters come to a token bucket: `rps` in each second, and beyond those `burst - rps` more in the
 * time an empty bucket takes to fill. When the shared store fails, requests are refused: an attacker who can stall the store
 * must not switch the limit off. Core contract 1.6.
 */
export function rateLimiter({ redis, keyPrefix, limit, nowMs, onStoreFailed }: RateLimiterOptions): RateLimiter {
  let built = limit();
  let counters = countersFor(built, keyPrefix, redis);
  let leases = new Leases();

  return async (bucket) => {
    const wanted = limit();
    if (wanted.rps !== built.rps || wanted.burst !== built.burst) {
      built = wanted;
      counters = countersFor(built, keyPrefix, redis);
      leases = new Leases();
    }
    try {
      const taken = await leases.take(bucket, counters, blockOf(built), nowMs());
      return { allowed: true, headers: rateHeaders(built, taken, nowMs()) };
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) onStoreFailed?.(refused);
      const state = refused instanceof RateLimiterRes ? refused : new RateLimiterRes(0, 1_000);
      const retryAfter = String(Math.max(1, Math.ceil(state.msBeforeNext / 1_000)));
      return { allowed: false, headers: { ...rateHeaders(built, state, nowMs()), 'Retry-After': retryAfter } };
    }
  };
}

function countersFor({ rps, burst }: RateLimit, keyPrefix: string, redis: Redis | undefined) {
  const counter = (points: number, durationSec: number, prefix: string) => {
    // A bucket that is used up is refused from memory, so a flood costs the store nothing.
    const options = { points, duration: durationSec, keyPrefix: prefix };
    return redis
      ? new RateLimiterRedis({
          ...options,
          storeClient: redis,
          inMemoryBlockOnConsumed: points,
          rejectIfRedisNotReady: true,
        })
      : new RateLimiterMemory(options);
  };
  const steady = counter(Math.min(rps, burst), 1, keyPrefix);
  if (burst <= rps) return steady;
  return new BurstyRateLimiter(steady, counter(burst - rps, Math.ceil(burst / rps), `${keyPrefix}:burst`));
}

const rateHeaders = ({ rps, burst }: RateLimit, { remainingPoints, msBeforeNext }: RateLimiterRes, nowMs: number) => ({
  'X-RateLimit-Limit': String(Math.min(rps, burst)),
  'X-RateLimit-Remaining': String(Math.max(0, remainingPoints)),
  'X-RateLimit-Reset': String(Math.ceil((nowMs + msBeforeNext) / 1_000)),
});
