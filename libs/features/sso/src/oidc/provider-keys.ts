import { isRecord } from '@svc/json';
import type { OutboundClient } from '@svc/outbound';
import { sha256 } from '@svc/identity';
import { keys } from '@svc/store';
import type { Redis } from 'ioredis';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';

interface ProviderKeysDeps {
  redis: Redis;
  client: OutboundClient;
  nowMs(): number;
  /** The keys could not be read again; the previous ones stay in effect. */
  onProblem(error: unknown): void;
}

interface KeySetSettings {
  issuer: string;
  /** Time after which keys are read again. */
  refreshMs: number;
  /** Minimum time between two reads because of unknown key ids, so that forged tokens cause no flood of requests. */
  cooldownMs: number;
}

interface KeySet {
  readAtMs: number;
  find: JWTVerifyGetKey;
}

const SHARED_TTL_MS = 3_600_000;

/**
 * Public keys of a provider, read once for all replicas: Redis has a copy for an hour. An unknown key id reads them again,
 * at most once in the cooldown.
 */
export class ProviderKeys {
  private current: KeySet | undefined;
  private reading: Promise<KeySet> | undefined;
  private lastAskedMs = -Infinity;

  constructor(
    private readonly deps: ProviderKeysDeps,
    private readonly settings: KeySetSettings,
    /** URL of the key set. */
    private readonly findUrl: () => Promise<string>,
  ) {}

  /** Finds the key of a token, for `jwtVerify`. @throws errors of `jose` and of the outbound client */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const set = await this.latest();
    try {
      return await set.find(header, token);
    } catch (error) {
      const newer = isUnknownKey(error) ? await this.afterUnknownKey(set) : undefined;
      if (!newer) throw error;
      return newer.find(header, token);
    }
  };

  private async latest(): Promise<KeySet> {
    const { current, settings, deps } = this;
    if (current && deps.nowMs() - current.readAtMs < settings.refreshMs) return current;
    try {
      return await this.readOnce(() => this.readShared(current));
    } catch (error) {
      if (!current) throw error;
      deps.onProblem(error);
      // The next read follows after a cooldown, not with the next token.
      this.current = { ...current, readAtMs: deps.nowMs() - settings.refreshMs + settings.cooldownMs };
      return current;
    }
  }

  private async afterUnknownKey(known: KeySet): Promise<KeySet | undefined> {
    if (this.current && this.current !== known) return this.current;
    if (this.deps.nowMs() - this.lastAskedMs < this.settings.cooldownMs) return undefined;
    this.lastAskedMs = this.deps.nowMs();
    try {
      return await this.readOnce(() => this.fetch());
    } catch (error) {
      this.deps.onProblem(error);
      return undefined;
    }
  }

  /** Concurrent callers share one read. */
  private async readOnce(read: () => Promise<KeySet>): Promise<KeySet> {
    this.reading ??= read().finally(() => (this.reading = undefined));
    this.current = await this.reading;
    return this.current;
  }

  private async readShared(known: KeySet | undefined): Promise<KeySet> {
    const text = await this.deps.redis.get(this.sharedKey());
    const shared = text === null ? undefined : toStoredSet(text);
    const oldestMs = Math.max(known?.readAtMs ?? -Infinity, this.deps.nowMs() - this.settings.refreshMs);
    return shared && shared.readAtMs > oldestMs
      ? { readAtMs: shared.readAtMs, find: createLocalJWKSet(shared.jwks) }
      : this.fetch();
  }

  private async fetch(): Promise<KeySet> {
    const { client, redis, nowMs } = this.deps;
    const response = await client.request(await this.findUrl(), { headers: { accept: 'application/json' } });
    const jwks = response.status === 200 ? toKeySet(response.json()) : undefined;
    if (!jwks) throw new Error(`the key set of the provider is not valid (status ${response.status})`);
    const readAtMs = nowMs();
    await redis.set(this.sharedKey(), JSON.stringify({ readAtMs, jwks }), 'PX', SHARED_TTL_MS);
    return { readAtMs, find: createLocalJWKSet(jwks) };
  }

  private sharedKey(): string {
    return keys.providerKeys(sha256(this.settings.issuer));
  }
}

const isUnknownKey = (error: unknown): boolean => error instanceof errors.JWKSNoMatchingKey;

const MAX_KEYS = 100;

/** Public keys only: an octet key could verify tokens that anyone with the set has signed. */
function toKeySet(value: unknown): JSONWebKeySet | undefined {
  const list = isRecord(value) ? value['keys'] : undefined;
  if (!Array.isArray(list) || list.length > MAX_KEYS) return undefined;
  const usable = list.filter((key: unknown) => isRecord(key) && (key['kty'] === 'RSA' || key['kty'] === 'EC'));
  return { keys: usable as JSONWebKeySet['keys'] };
}

function toStoredSet(text: string): { readAtMs: number; jwks: JSONWebKeySet } | undefined {
  const value = JSON.parse(text) as { readAtMs?: unknown; jwks?: unknown };
  const jwks = toKeySet(value.jwks);
  return jwks && typeof value.readAtMs === 'number' ? { readAtMs: value.readAtMs, jwks } : undefined;
}
