import { AppError } from '@svc/contract';
import type { Redis } from 'ioredis';
import {
  RateLimiterMemory,
  RateLimiterQueue,
  RateLimiterRedis,
  RateLimiterRes,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible';
import { sha256 } from './digest';

/**
 * Failed sign-ins per minute, of an address and with a known API key. Further ones are refused until the minute ends; there is
 * no lockout.
 */
export const signInTries = 20;
const TRIES_SEC = 60;

/** Failed second factors of a user in a period, by someone who knows the password. */
const MAX_FACTOR_TRIES = 10;
/** Attempts per second on an account with many failures, of all addresses together. */
const SLOW_PER_SEC = 4;
const MAX_WAITING_SLOW = 40;
/** Attempts of one address on one account that wait for each other. */
const MAX_WAITING = 16;
/** An address from which a user has signed in is not slowed down for this time. */
const KNOWN_SEC = 30 * 86_400;

interface SignInLimitSettings {
  /** MAX_LOGIN_ATTEMPTS: failures of an address on an account. */
  maxAttempts: number;
  /** MAX_GLOBAL_LOGIN_ATTEMPTS: failures of all addresses on an account. */
  maxGlobalAttempts: number;
  /** LOGIN_LOCKOUT_PERIOD. */
  periodMs: number;
}

/** An account, existing or not, and the address that tries it. */
interface AccountAttempt {
  /** Id of the user, else what was entered. */
  account: string;
  /** As the counters use it, see `addressBucket`. */
  address: string;
}

/**
 * Limits of sign-ins. After a number of failures an address is refused an account for a time, and then also the right password,
 * while all others may still use it. An account that many addresses try is slowed down and never closed, so that a stranger
 * cannot lock a user out. Without Redis the counters of this process apply.
 * See docs/reference/users.md#limits.
 */
export class SignInLimits {
  private readonly addresses: RateLimiterAbstract;
  private readonly apiKeys: RateLimiterAbstract;
  private readonly pairs: RateLimiterAbstract;
  private readonly accounts: RateLimiterAbstract;
  private readonly factors: RateLimiterAbstract;
  private readonly slow: RateLimiterQueue;
  private readonly lines = new Map<string, { tail: Promise<unknown>; waiting: number }>();

  constructor(
    private readonly redis: Redis,
    private readonly settings: SignInLimitSettings,
  ) {
    const periodSec = Math.max(1, Math.ceil(settings.periodMs / 1_000));
    const counter = (name: string, points: number, duration: number) => {
      const options = { keyPrefix: `svc:rl:${name}`, points, duration };
      const insuranceLimiter = new RateLimiterMemory(options);
      return new RateLimiterRedis({ ...options, storeClient: redis, insuranceLimiter, rejectIfRedisNotReady: true });
    };
    this.addresses = counter('signin', signInTries, TRIES_SEC);
    this.apiKeys = counter('signin-key', signInTries, TRIES_SEC);
    this.pairs = counter('login', settings.maxAttempts, periodSec);
    this.accounts = counter('login-account', settings.maxGlobalAttempts, periodSec);
    this.factors = counter('login-factor', MAX_FACTOR_TRIES, periodSec);
    this.slow = new RateLimiterQueue(counter('login-slow', SLOW_PER_SEC, 1), { maxQueueSize: MAX_WAITING_SLOW });
  }

  /** Takes an attempt of an address. @throws rate_limited */
  takeAddress = (address: string) => take(this.addresses, address);

  /** Forgets the attempts of an address that has signed in. */
  clearAddress = async (address: string) => void (await this.addresses.delete(address));

  /** Takes an attempt with a known key, also from many addresses. @param digest SHA-256 of the key @throws rate_limited */
  takeKey = (digest: string) => take(this.apiKeys, digest.slice(0, 16));

  clearKey = async (digest: string) => void (await this.apiKeys.delete(digest.slice(0, 16)));

  /** Takes an attempt at the second factor of a user whose password was right. @throws rate_limited */
  takeFactor = (userId: string) => take(this.factors, userId);

  clearFactor = async (userId: string) => void (await this.factors.delete(userId));

  /**
   * Runs an attempt on an account, after those of the same address that came before it.
   *
   * @param check verifies the attempt. When it may not succeed, it must take as long and fail. What it throws does not count
   * @returns what `check` returned; undefined = the attempt failed
   * @throws rate_limited when too many attempts wait
   */
  async onAccount<T>(
    attempt: AccountAttempt,
    check: (maySucceed: boolean) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    // What was entered as username may be a password.
    const account = sha256(attempt.account).slice(0, 32);
    const pair = `${account}:${attempt.address}`;
    return this.inLine(pair, async () => {
      const [ofPair, ofAccount] = await Promise.all([this.pairs.get(pair), this.accounts.get(account)]);
      const maySucceed = (ofPair?.consumedPoints ?? 0) < this.settings.maxAttempts;
      const isAttacked = (ofAccount?.consumedPoints ?? 0) >= this.settings.maxGlobalAttempts;
      if (maySucceed && isAttacked && !(await this.isKnown(pair))) await this.slowDown(account);
      const result = await check(maySucceed);
      if (result !== undefined) await Promise.all([this.pairs.delete(pair), this.remember(pair)]);
      else if (maySucceed) await Promise.all([this.pairs.penalty(pair), this.accounts.penalty(account)]);
      return result;
    });
  }

  private isKnown = async (pair: string) => (await this.redis.exists(knownKey(pair))) > 0;

  private remember = (pair: string) => this.redis.set(knownKey(pair), '1', 'EX', KNOWN_SEC);

  private async slowDown(account: string): Promise<void> {
    try {
      await this.slow.removeTokens(1, account);
    } catch {
      throw refusal(MAX_WAITING_SLOW / SLOW_PER_SEC);
    }
  }

  /** One after another, so that attempts at the same time are not all checked before the first of them is counted. */
  private async inLine<T>(name: string, run: () => Promise<T>): Promise<T> {
    const line = this.lines.get(name) ?? { tail: Promise.resolve(), waiting: 0 };
    if (line.waiting >= MAX_WAITING) throw refusal(1);
    line.waiting += 1;
    this.lines.set(name, line);
    const mine = line.tail.then(run);
    line.tail = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      line.waiting -= 1;
      if (line.waiting === 0) this.lines.delete(name);
    }
  }
}

const knownKey = (pair: string): string => `svc:rl:login-known:${pair}`;

const refusal = (waitSec: number) =>
  new AppError('rate_limited', {}, { 'Retry-After': String(Math.max(1, Math.ceil(waitSec))) });

/** @throws rate_limited */
async function take(limiter: RateLimiterAbstract, bucket: string): Promise<void> {
  try {
    await limiter.consume(bucket);
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    throw refusal(refused.msBeforeNext / 1_000);
  }
}
