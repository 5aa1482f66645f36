import type { AuthUser, Caller, SessionView } from '@svc/contract';
import { bareKey, findSessionTokens, type Presented } from '@svc/identity';
import type { SignedIn } from './sign-in';
import { toAuthUser, type UserDeps } from './user-deps';

/** Credentials of a request that may name a session. */
export type Credentials = Pick<Presented, 'authorization' | 'apiKey' | 'cookie'>;

/** The response to a sign-in. The token of a user is shown, an API key is not repeated. */
export const toSignedInView = ({ token, expiresAtMs, by }: SignedIn, entered: string): SessionView => ({
  token: by.kind === 'user' ? token : mask(bareKey(entered)),
  expires_at: new Date(expiresAtMs).toISOString(),
  user: by.kind === 'user' ? toAuthUser(by.user) : toKeyUser(by.caller),
});

/** The caller as user, and when the credential ends at the latest. */
export async function getSession(
  { store, sessions, clock, settings }: UserDeps,
  caller: Caller,
  credentials: Credentials,
): Promise<SessionView> {
  const [token] = findSessionTokens(credentials);
  const session = caller.sessionId !== undefined && token ? await sessions.find(token) : undefined;
  const stored = caller.userId === undefined ? undefined : await store.users.get(caller.userId);
  const bearer = /^bearer +(\S.*)$/i.exec(credentials.authorization?.trim() ?? '')?.[1] ?? '';
  return {
    token: mask((session && token) || bareKey(credentials.apiKey ?? '') || bearer),
    expires_at: new Date(session?.record.expires_at ?? clock.nowMs() + settings.sessionTtlMs).toISOString(),
    user: stored ? toAuthUser(stored.user) : toKeyUser(caller),
  };
}

/** The principal of a credential that is no user's. */
const toKeyUser = ({ principalId, keyId, role, tenant }: Caller): AuthUser => ({
  id: principalId || `user-${keyId.slice(0, 8)}`,
  username: principalId || 'api-user',
  display_name: '',
  tenant,
  roles: [role],
  source: 'api_key',
});

/** Enough of a secret to recognize it. */
export const mask = (secret: string): string =>
  secret.length <= 12 ? `${secret.slice(0, 4)}********` : `${secret.slice(0, 8)}********${secret.slice(-4)}`;
