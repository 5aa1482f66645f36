import type { Redis } from 'ioredis';
import { keys } from './keys';
import { luaJson } from './lua-json';
import { runScript } from './scripts';
import type { UserRecord } from './user.repository';

/** How a session was opened. */
export type SignInMethod = 'password' | 'api_key' | 'oidc' | 'saml';

/**
 * A sign-in. That of a user is valid in one generation of the user; that of an API key as long as the key is.
 * See docs/reference/users.md#sessions.
 */
export type SessionRecord = {
  /** Tenant of the user, or the one chosen at sign-in by a key with cross-tenant access. */
  tenant: string;
  method: SignInMethod;
  /** Address of the client that signed in. */
  address: string;
  /** Milliseconds since 1970. */
  created_at: number;
  expires_at: number;
} & ({ kind: 'user'; user_id: string; generation: number } | { kind: 'api_key'; key_digest: string });

export interface StoredSession {
  record: SessionRecord;
  /** Last noted use, ms since 1970. */
  seenMs: number;
  /** The user whose session it is, without password and second factor. */
  user?: Omit<UserRecord, 'password' | 'totp'>;
}

interface SessionTimes {
  nowMs: number;
  /** Time without use after which a session ends. */
  idleMs: number;
}

/** Sessions of one owner; a further sign-in ends the one that would end first. */
const MAX_SESSIONS = 100;
/** A use is noted at most this often, so that most requests of a session write nothing. */
const NOTE_EVERY_MS = 60_000;

/** The user or API key that a session belongs to, as part of a key. */
export const getSessionOwner = (record: SessionRecord): string =>
  record.kind === 'user' ? `user:${record.user_id}` : `key:${record.key_digest}`;

/** Sign-in sessions by the SHA-256 (hex) of their tokens, which are not stored. */
export class SessionRepository {
  constructor(private readonly redis: Redis) {}

  async create(hash: string, record: SessionRecord, { nowMs, idleMs }: SessionTimes): Promise<void> {
    const [user, generation] = record.kind === 'user' ? [record.user_id, record.generation] : ['', ''];
    const args = [hash, getSessionOwner(record), luaJson(record), user, generation];
    const times = [record.expires_at, nowMs, idleMs, MAX_SESSIONS];
    await runScript(this.redis, 'createSession', keys.session(hash), ...args, ...times);
  }

  /** The session with its user, in one round trip; undefined when it is unknown or has ended. */
  async read(hash: string, { nowMs, idleMs }: SessionTimes): Promise<StoredSession | undefined> {
    const args = [hash, nowMs, idleMs, NOTE_EVERY_MS];
    const reply = await runScript(this.redis, 'readSession', keys.session(hash), ...args);
    const [kind, document = '', seen = '', user = ''] = reply as string[];
    if (kind !== 'found') return undefined;
    return {
      record: JSON.parse(document) as SessionRecord,
      seenMs: Number(seen),
      ...(user !== '' && { user: JSON.parse(user) as UserRecord }),
    };
  }

  /** Sessions of an owner by hash; some of them may have ended with their user's generation or for lack of use. */
  async list(owner: string): Promise<Map<string, { record: SessionRecord; seenMs: number }>> {
    const hashes = await this.redis.zrange(keys.sessionsOf(owner), '0', '-1');
    const rows = await Promise.all(hashes.map((hash) => this.redis.hmget(keys.session(hash), 'document', 'seen')));
    return new Map(
      rows.flatMap(([document, seen], i) =>
        document ? [[hashes[i] ?? '', { record: JSON.parse(document) as SessionRecord, seenMs: Number(seen) }]] : [],
      ),
    );
  }

  /** @returns the number of sessions that had not ended before */
  async end(owner: string, hashes: readonly string[]): Promise<number> {
    if (hashes.length === 0) return 0;
    const [, count] = (await runScript(this.redis, 'endSessions', keys.sessionsOf(owner), ...hashes)) as string[];
    return Number(count ?? 0);
  }

  /** The owner of a session; undefined when there is no such session. */
  async findOwner(hash: string): Promise<string | undefined> {
    return (await this.redis.hget(keys.session(hash), 'owner')) ?? undefined;
  }
}
