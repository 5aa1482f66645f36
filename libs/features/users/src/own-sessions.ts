import { AppError, type Caller, type EndedSessions, type OwnSessions } from '@svc/contract';
import { bareKey, findSessionTokens, getSessionId, sha256, type SessionOwner } from '@svc/identity';
import type { Credentials } from './session-view';
import type { UserDeps } from './user-deps';

type Deps = Pick<UserDeps, 'store' | 'sessions'>;

/** Sessions of the user or API key that calls. See docs/reference/users.md#sessions. */
export async function listOwnSessions(deps: Deps, caller: Caller, credentials: Credentials): Promise<OwnSessions> {
  const owner = await findOwner(deps, caller, credentials);
  const listed = owner ? await deps.sessions.list(owner) : [];
  return {
    items: listed.map(({ id, record, seenMs }) => ({
      id: toPublicId(id),
      method: record.method,
      address: record.address,
      created_at: toTime(record.created_at),
      last_seen_at: toTime(seenMs),
      expires_at: toTime(record.expires_at),
      current: id === caller.sessionId,
    })),
  };
}

/** @throws auth_session_not_found, also for a session of another owner */
export async function endOwnSession(
  deps: Deps,
  caller: Caller,
  credentials: Credentials,
  sessionId: string,
): Promise<void> {
  const owner = await findOwner(deps, caller, credentials);
  const count = owner ? await deps.sessions.endSome(owner, [`session:${sessionId}`]) : 0;
  if (count === 0) throw new AppError('auth_session_not_found');
}

/** Ends all own sessions but the one of this request. */
export async function endOtherSessions(deps: Deps, caller: Caller, credentials: Credentials): Promise<EndedSessions> {
  const owner = await findOwner(deps, caller, credentials);
  if (!owner) return { ended: 0 };
  const others = (await deps.sessions.list(owner)).map(({ id }) => id).filter((id) => id !== caller.sessionId);
  return { ended: await deps.sessions.endSome(owner, others) };
}

/** Ends every session that a request names. */
export async function endNamedSessions(
  { sessions }: Pick<UserDeps, 'sessions'>,
  credentials: Credentials,
): Promise<void> {
  for (const token of new Set(findSessionTokens(credentials))) await sessions.end(token);
}

/** Undefined for callers that have no sessions, such as tokens. */
async function findOwner(
  { store, sessions }: Deps,
  { userId, sessionId, source }: Caller,
  credentials: Credentials,
): Promise<SessionOwner | undefined> {
  if (userId !== undefined) {
    const stored = await store.users.get(userId);
    return stored && { kind: 'user', userId, generation: stored.generation };
  }
  if (source === 'api_key') return { kind: 'api_key', keyDigest: sha256(bareKey(credentials.apiKey ?? '')) };
  const token = findSessionTokens(credentials).find((one) => getSessionId(one) === sessionId);
  const record = token === undefined ? undefined : (await sessions.find(token))?.record;
  return record?.kind === 'api_key' ? { kind: 'api_key', keyDigest: record.key_digest } : undefined;
}

const toPublicId = (id: string): string => id.slice('session:'.length);

const toTime = (ms: number): string => new Date(ms).toISOString();
