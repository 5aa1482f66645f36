import {
  getSessionOwner,
  type SessionRecord,
  type SessionRepository,
  type SignInMethod,
  type StoredSession,
} from '@svc/store';
import { LRUCache } from 'lru-cache';
import { randomBytes } from 'node:crypto';
import { sha256 } from './digest';
import { isTenantName, whenKnown, type Identity, type KeySource, type Soon } from './identity';

/** A user in one generation, or an API key. */
export type SessionOwner =
  { kind: 'user'; userId: string; generation: number } | { kind: 'api_key'; keyDigest: string };

/** A sign-in that was verified. */
export type NewSession = SessionOwner & {
  /** Tenant of the user, or the one chosen at sign-in by a key with cross-tenant access. */
  tenant: string;
  method: SignInMethod;
  /** Address of the client. */
  address: string;
};

export interface CreatedSession {
  /** Not stored: a client that has it is signed in. */
  token: string;
  /** Milliseconds since 1970. */
  expiresAtMs: number;
  /** Id in notices, audit events and lists, which does not reveal the token. */
  id: string;
}

export interface ListedSession {
  id: string;
  record: SessionRecord;
  /** Milliseconds since 1970, to the minute. */
  seenMs: number;
}

export interface FoundSession extends StoredSession {
  id: string;
}

/** See docs/reference/users.md#sessions. */
export interface Sessions {
  create(session: NewSession): Promise<CreatedSession>;
  /** Undefined for a token that is unknown, ended or expired. */
  find(token: string): Soon<FoundSession | undefined>;
  /** Ends a session; a no-op when there is none. */
  end(token: string): Promise<void>;
  /** The valid sessions of an owner, the newest first. */
  list(owner: SessionOwner): Promise<ListedSession[]>;
  /** Ends the sessions of an owner that have these ids. @returns their number */
  endSome(owner: SessionOwner, ids: readonly string[]): Promise<number>;
}

export const sessionPrefix = 'session-';

/** The id of a session in notices, which does not reveal its token. */
export const getSessionId = (token: string): string => toId(sha256(token));

const toId = (hash: string): string => `session:${hash.slice(0, 16)}`;

export interface SessionSettings {
  /** SVC_AUTH_SESSION_TTL. */
  ttlMs: number;
  /** SVC_SESSION_IDLE_TTL. */
  idleMs: number;
  nowMs(): number;
  /** Called with the id of a session after it was ended. */
  onEnded?(id: string): void;
  /** Calls back with the id of a session, user or key that changed; undefined = any of them. */
  onChange?(listener: (id: string | undefined) => void): void;
}

/** An ended session is refused after this time at the latest, also when its notice is lost. */
const REMEMBER_MS = 500;
const MAX_REMEMBERED = 10_000;

interface Remembered {
  found: Soon<FoundSession | undefined>;
  untilMs: number;
}

/**
 * Stores only the SHA-256 of a token, so a copy of the store cannot be used to sign in. What was read is remembered for half
 * a second, so that a client with many requests costs one read in this time.
 */
export function openSessions(
  store: SessionRepository,
  { ttlMs, idleMs, nowMs, onEnded = () => undefined, onChange }: SessionSettings,
): Sessions {
  const remembered = new LRUCache<string, Remembered>({ max: MAX_REMEMBERED });
  onChange?.((id) => void forget(remembered, id));
  const times = () => ({ nowMs: nowMs(), idleMs });

  const endHashes = async (owner: string, hashes: readonly string[]): Promise<number> => {
    const count = await store.end(owner, hashes);
    for (const hash of hashes) {
      remembered.delete(hash);
      // A crash here: streams of the session end at their regular check.
      onEnded(toId(hash));
    }
    return count;
  };

  return {
    async create({ tenant, method, address, ...owner }) {
      const token = sessionPrefix + randomBytes(32).toString('base64url');
      const createdAt = nowMs();
      const facts = { tenant, method, address, created_at: createdAt, expires_at: createdAt + ttlMs };
      const hash = sha256(token);
      await store.create(hash, { ...facts, ...toStoredOwner(owner) }, times());
      return { token, expiresAtMs: facts.expires_at, id: toId(hash) };
    },

    find(token) {
      if (!/^session-[A-Za-z0-9_-]{43}$/.test(token)) return undefined;
      const hash = sha256(token);
      const known = remembered.get(hash);
      if (known && known.untilMs > nowMs()) return whenKnown(known.found, (session) => whileValid(session, nowMs()));
      const found = store.read(hash, times()).then((session) => session && { ...session, id: toId(hash) });
      const entry: Remembered = { found, untilMs: nowMs() + REMEMBER_MS };
      remembered.set(hash, entry);
      // Guessed tokens must not displace those of sessions, and a failed read is repeated.
      const drop = () => remembered.peek(hash) === entry && remembered.delete(hash);
      return found.then(
        (session) => {
          if (session) entry.found = session;
          else drop();
          return session;
        },
        (error: unknown) => {
          drop();
          throw error;
        },
      );
    },

    async end(token) {
      const hash = sha256(token);
      const owner = await store.findOwner(hash);
      if (owner !== undefined) await endHashes(owner, [hash]);
    },

    async list(owner) {
      const sessions = [...(await store.list(ownerName(owner)))];
      const now = nowMs();
      return sessions
        .filter(([, session]) => isValid(owner, session, { nowMs: now, idleMs }))
        .map(([hash, session]) => ({ id: toId(hash), ...session }))
        .sort((one, other) => other.record.created_at - one.record.created_at);
    },

    async endSome(owner, ids) {
      const name = ownerName(owner);
      const wanted = new Set(ids);
      const hashes = [...(await store.list(name)).keys()].filter((hash) => wanted.has(toId(hash)));
      return hashes.length > 0 ? endHashes(name, hashes) : 0;
    },
  };
}

const toStoredOwner = (owner: SessionOwner) =>
  owner.kind === 'user'
    ? { kind: owner.kind, user_id: owner.userId, generation: owner.generation }
    : { kind: owner.kind, key_digest: owner.keyDigest };

const ownerName = (owner: SessionOwner): string => getSessionOwner({ ...toStoredOwner(owner) } as SessionRecord);

const whileValid = (session: FoundSession | undefined, nowMs: number): FoundSession | undefined =>
  session && session.record.expires_at > nowMs ? session : undefined;

function isValid(
  owner: SessionOwner,
  { record, seenMs }: Pick<StoredSession, 'record' | 'seenMs'>,
  { nowMs, idleMs }: { nowMs: number; idleMs: number },
): boolean {
  if (record.expires_at <= nowMs || seenMs + idleMs <= nowMs) return false;
  return record.kind !== 'user' || owner.kind !== 'user' || record.generation === owner.generation;
}

/** Forgets a session, or those of a user; changes are rare, so that searching costs little. */
function forget(remembered: LRUCache<string, Remembered>, id: string | undefined): void {
  if (id === undefined || id.startsWith('user:')) return remembered.clear();
  for (const hash of [...remembered.keys()]) if (toId(hash) === id) remembered.delete(hash);
}

/**
 * Resolves the identity of a session from its user or key as they are now, so that a changed role applies, and a removed or
 * expired key ends its sessions at once.
 */
export function resolveSession(
  { id: sessionId, record, user }: FoundSession,
  keys: readonly KeySource[],
): Soon<Identity | undefined> {
  if (record.kind === 'user') {
    return user && !user.disabled ? toUserIdentity(user, { sessionId, expiresAtMs: record.expires_at }) : undefined;
  }
  return whenKnown(findKey(record.key_digest, keys), (identity) => {
    if (!identity) return undefined;
    const mayChoose = identity.allowCrossTenant && isTenantName(record.tenant);
    const tenant = mayChoose ? record.tenant : identity.tenant;
    const expiresAtMs = Math.min(record.expires_at, identity.expiresAtMs ?? Infinity);
    return { ...identity, tenant, source: 'session', sessionId, expiresAtMs };
  });
}

const toUserIdentity = (
  { id, tenant, username, role }: NonNullable<StoredSession['user']>,
  session: { sessionId: string; expiresAtMs: number },
): Identity => ({
  tenant,
  principalId: username,
  role,
  keyId: '',
  keyName: '',
  allowCrossTenant: false,
  source: 'session',
  submitter: `user:${id}`,
  userId: id,
  ...session,
});

/** Returns the first match of the sources in order. */
export function findKey(digest: string, keys: readonly KeySource[], at = 0): Soon<Identity | undefined> {
  const source = keys[at];
  return source && whenKnown(source.find(digest), (found) => found ?? findKey(digest, keys, at + 1));
}
