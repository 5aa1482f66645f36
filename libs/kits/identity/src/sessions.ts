import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { sha256 } from './digest';
import { isTenantName, type Identity, type KeySource } from './identity';

/**
 * A sign-in by API key. It references the key by its digest and is valid only while the key is.
 * See docs/reference/http.md#authentication.
 */
export interface SessionRecord {
  kind: 'api_key';
  key_digest: string;
  /** Tenant chosen at sign-in, for keys with cross-tenant access. */
  tenant: string;
  /** Milliseconds since 1970. */
  created_at: number;
  expires_at: number;
}

export interface Sessions {
  /** @returns the token, which is not stored, and its expiry (ms since 1970) */
  create(session: { keyDigest: string; tenant: string }): Promise<{ token: string; expiresAtMs: number }>;
  /** Undefined for a token that is unknown, ended or expired. */
  find(token: string): Promise<SessionRecord | undefined>;
  /** Ends a session; a no-op when there is none. */
  end(token: string): Promise<void>;
}

export const sessionPrefix = 'session-';

/** The id of a session in notices, which does not reveal its token. */
export const getSessionId = (token: string): string => `session:${sha256(token).slice(0, 16)}`;

export interface SessionSettings {
  keyOf(digest: string): string;
  ttlSec: number;
  nowMs(): number;
  /** Called with the id of a session after it was ended. */
  onEnded?(id: string): void;
}

/** Stores only the SHA-256 of a token, so a copy of the store cannot be used to sign in. */
export function openSessions(
  redis: Redis,
  { keyOf, ttlSec, nowMs, onEnded = () => undefined }: SessionSettings,
): Sessions {
  const keyFor = (token: string) => keyOf(sha256(token));
  return {
    async create({ keyDigest, tenant }) {
      const token = sessionPrefix + randomBytes(32).toString('base64url');
      const createdAt = nowMs();
      const record: SessionRecord = {
        kind: 'api_key',
        key_digest: keyDigest,
        tenant,
        created_at: createdAt,
        expires_at: createdAt + ttlSec * 1_000,
      };
      await redis.set(keyFor(token), JSON.stringify(record), 'EX', ttlSec);
      return { token, expiresAtMs: record.expires_at };
    },

    async find(token) {
      if (!/^session-[A-Za-z0-9_-]{43}$/.test(token)) return undefined;
      const stored = await redis.get(keyFor(token));
      const record = stored === null ? undefined : (JSON.parse(stored) as SessionRecord);
      return record && record.expires_at > nowMs() ? record : undefined;
    },

    async end(token) {
      const ended = await redis.del(keyFor(token));
      // A crash here: streams of the session end at their regular check.
      if (ended > 0) onEnded(getSessionId(token));
    },
  };
}

/**
 * Resolves the identity of a session from its key, so a removed or expired key ends its sessions at once, and a changed role
 * applies to them.
 */
export async function resolveSession(record: SessionRecord, keys: readonly KeySource[]): Promise<Identity | undefined> {
  const identity = await findKey(record.key_digest, keys);
  if (!identity) return undefined;
  const mayChoose = identity.allowCrossTenant && isTenantName(record.tenant);
  const expiresAtMs = Math.min(record.expires_at, identity.expiresAtMs ?? Infinity);
  return { ...identity, tenant: mayChoose ? record.tenant : identity.tenant, source: 'session', expiresAtMs };
}

/** Returns the first match of the sources in order. */
export async function findKey(digest: string, keys: readonly KeySource[]): Promise<Identity | undefined> {
  for (const source of keys) {
    const found = await source.find(digest);
    if (found) return found;
  }
  return undefined;
}
