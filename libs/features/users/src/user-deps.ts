import { AppError, type AuditAct, type AuthConfigView, type AuthUser, type Caller, type Role } from '@svc/contract';
import { addressBucket, type RefusedRequest } from '@svc/http';
import type { Authenticate, Passwords, SealedTexts, Sessions, SignInLimits } from '@svc/identity';
import type { Clock, Random } from '@svc/platform';
import type { Store, StoredUser, UserRecord } from '@svc/store';

export interface UserDeps {
  store: Pick<Store, 'users'>;
  clock: Pick<Clock, 'nowMs'>;
  random: Pick<Random, 'uuid' | 'hex'>;
  authenticate: Authenticate;
  passwords: Passwords;
  sessions: Sessions;
  limits: SignInLimits;
  /** Encrypts second factors; absent = there are none. */
  sealed: SealedTexts | undefined;
  /** Built-in and stored roles. */
  roles(): Readonly<Record<string, Role>>;
  /** Whether permissions decide, rather than roles. */
  rbac(): boolean;
  /** Whether a tenant is suspended or being deleted, so that its users do not sign in. */
  isTenantStopped(tenant: string): boolean;
  /** Whether there are configured API keys that can sign in. */
  takesApiKeys(): boolean;
  /** Sign-in at providers; empty = none. */
  sso(): Promise<Partial<AuthConfigView>>;
  /** Runs what an act records. */
  audited<T>(tenant: string, act: AuditAct, run: () => Promise<T>): Promise<T>;
  /** Reports refused credentials for the audit. */
  onRefused(refused: RefusedRequest): void;
  /** Notifies all gateways that sessions of `user:<id>` ended or changed. */
  announce(id: string): void;
  settings: UserSettings;
}

interface UserSettings {
  /** SVC_USER_AUTH_ENABLED. */
  isEnabled: boolean;
  /** TENANT_ID. */
  defaultTenant: string;
  /** SVC_AUTH_SESSION_TTL. */
  sessionTtlMs: number;
}

/** Where a request comes from, for the audit. */
export interface RequestOrigin {
  ip: string;
  requestId: string;
  path: string;
}

/** The request that an audit event records. */
export interface ActContext {
  caller: Caller;
  requestId: string;
}

/** @throws auth_request_invalid */
export function requireUserAuth({ settings }: Pick<UserDeps, 'settings'>): void {
  if (!settings.isEnabled) throw fault('', 'user authentication is not enabled');
}

export const fault = (field: string, message: string): AppError =>
  new AppError('auth_request_invalid', { error: message, violations: [{ in: 'body', field, path: field, message }] });

/** The wire form of a user. */
export const toAuthUser = (user: UserRecord): AuthUser => ({
  id: user.id,
  username: user.username,
  ...(user.email && { email: user.email }),
  display_name: user.display_name ?? '',
  tenant: user.tenant,
  roles: [user.role],
  source: 'user',
  ...(user.disabled && { disabled: true }),
  ...(user.totp?.confirmed && { totp_enabled: true }),
  created_at: user.created_at,
  updated_at: user.updated_at,
  ...(user.last_login_at && { last_login_at: user.last_login_at }),
});

/** An audit event about a change of a user. */
export const buildAct = (
  action: string,
  { caller, requestId }: ActContext,
  user: UserRecord,
  extra: Readonly<Record<string, string>> = {},
): AuditAct => ({
  event_type: 'identity.change',
  action,
  severity: user.role === 'admin' ? 'HIGH' : 'MEDIUM',
  identity: caller.principalId || caller.submitterId,
  extra: {
    request_id: requestId,
    role: caller.role,
    key_id: caller.keyId,
    resource_type: 'user',
    resource_id: user.id,
    username: user.username,
    user_role: user.role,
    ...extra,
  },
});

/** The act of a user who opens a session. */
export const buildSignInAct = (user: UserRecord, method: string, { ip, requestId, path }: RequestOrigin): AuditAct => ({
  event_type: 'system.auth',
  action: 'auth.sign_in',
  severity: 'INFO',
  identity: user.username,
  extra: {
    source_ip: addressBucket(ip),
    auth_method: method,
    role: user.role,
    path,
    request_id: requestId,
    resource_type: 'user',
    resource_id: user.id,
  },
});

const MAX_TRIES = 8;

/** A change of a user: the whole new record, and how it is recorded. */
export interface UserChange {
  user: UserRecord;
  act: AuditAct;
  endSessions?: boolean;
  rehashed?: boolean;
}

/**
 * Changes a user by compare-and-set, decided again when others have changed it in between.
 *
 * @param decide undefined = nothing is changed
 * @returns the user as it is now, and its generation; undefined when nothing was changed
 * @throws auth_user_not_found, auth_user_conflict, auth_last_admin, auth_user_version_conflict, and what `decide` throws
 */
export async function changeUser(
  { store, announce }: Pick<UserDeps, 'store' | 'announce'>,
  first: StoredUser,
  decide: (stored: StoredUser) => Promise<UserChange | undefined> | UserChange | undefined,
): Promise<StoredUser | undefined> {
  let stored: StoredUser | undefined = first;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (!stored) throw new AppError('auth_user_not_found');
    const change = await decide(stored);
    if (!change) return undefined;
    const outcome = await store.users.write({ ...change, expected: stored.revision, keepAdmin: true });
    switch (outcome.kind) {
      case 'written':
        // A crash here: the sessions have ended, and replicas that remember them find out within half a second.
        if (outcome.generation !== stored.generation) announce(`user:${change.user.id}`);
        return { user: change.user, revision: outcome.revision, generation: outcome.generation };
      case 'taken':
        throw new AppError('auth_user_conflict');
      case 'last_admin':
        throw new AppError('auth_last_admin');
      case 'full':
        throw new AppError('auth_users_full');
      case 'changed':
        stored = await store.users.get(stored.user.id);
    }
  }
  throw new AppError('auth_user_version_conflict');
}
