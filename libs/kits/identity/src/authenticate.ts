import { coversRole, type Caller, type ErrorCode, type Role } from '@svc/contract';
import type { CredentialRef } from './credential-changes';
import { sha256 } from './digest';
import { whenKnown, type Identity, type KeySource, type Soon } from './identity';
import type { BearerCheck } from './jwt';
import { missingScope } from './key-scope';
import { findKey, resolveSession, sessionPrefix, type Sessions } from './sessions';
import { chooseTenant } from './tenant';
import { getProtocolKey } from './web-socket-key';

/** Credentials and identity headers of a request, for every transport. Absent and empty are equivalent. */
export interface Presented {
  authorization?: string | undefined;
  /** Header or metadata `X-API-Key`. */
  apiKey?: string | undefined;
  /** The whole Cookie header. */
  cookie?: string | undefined;
  /** Header `Sec-WebSocket-Protocol`, from WebSocket upgrades only. */
  protocols?: string | undefined;
  /** Header `X-Tenant-ID`. */
  tenant?: string | undefined;
  /** Headers `X-Principal-Id` and `X-Principal-Role`. */
  principalId?: string | undefined;
  principalRole?: string | undefined;
  /**
   * Declared method and path of the matched route, for keys with scopes. Never the path as sent: it has other spellings than
   * the one that scopes are compared with. Absent for transports without paths.
   */
  request?: { method: string; path: string };
}

export type AuthOutcome =
  | {
      kind: 'caller';
      caller: Caller;
      /** For streams, which stay open after this check. */
      credential: CredentialRef;
      /** Authenticated by the session cookie, which browsers also send with requests made by other sites. */
      byCookie?: boolean;
    }
  | {
      kind: 'refused';
      code: Extract<
        ErrorCode,
        'unauthorized' | 'tenant_access_denied' | 'tenant_id_required' | 'tenant_suspended' | 'key_scope_insufficient'
      >;
      extras?: Record<string, unknown>;
    };
/** The outcome is known at once when the credential is. */
export type Authenticate = (presented: Presented) => Soon<AuthOutcome>;

export interface AuthenticateDeps {
  /** Configured keys first, then managed ones. */
  keys: readonly KeySource[];
  /** Static-key JWT first, then OIDC. */
  bearer: readonly BearerCheck[];
  sessions: Pick<Sessions, 'find'> | undefined;
  /** Whether a tenant is suspended or being deleted. Absent = none is. */
  isTenantStopped?: (tenant: string) => boolean;
  /** Stored and built-in roles, used to check that a header only lowers the role. */
  roles?: () => Readonly<Record<string, Role>>;
  /** Called for each valid credential, whether or not it allows the request. */
  onAuthenticated?(identity: Identity): void;
}

export interface AuthenticateSettings {
  defaultTenant: string;
  /** SVC_ALLOW_INSECURE_NO_AUTH; ignored in production. */
  allowAnonymous: boolean;
  /** SVC_ALLOW_HEADER_PRINCIPAL; outside production header principals are always honoured. */
  allowHeaderPrincipal: boolean;
  /** SVC_JWT_REQUIRED. */
  jwtRequired: boolean;
  production: boolean;
}

/**
 * The authenticator of REST, gRPC and WebSocket. Only the credential with the highest precedence is tried: when it is
 * invalid, the request is refused.
 */
export function authenticator(deps: AuthenticateDeps, settings: AuthenticateSettings): Authenticate {
  const honoursHeaders = !settings.production || settings.allowHeaderPrincipal;
  const decide = (presented: Presented, { identity, byCookie }: Identified): AuthOutcome => {
    if (!identity) return { kind: 'refused', code: 'unauthorized' };

    deps.onAuthenticated?.(identity);

    const { request } = presented;
    const required = identity.scopes && request && missingScope(identity.scopes, request.method, request.path);
    if (required !== undefined) {
      const reason = 'key_scope_insufficient';
      return { kind: 'refused', code: reason, extras: { reason, details: { required, granted: identity.scopes } } };
    }

    const choice = chooseTenant(identity, presented.tenant, settings.defaultTenant);
    if (choice.kind === 'refused') return choice;
    // Also the credential's own tenant, which a cross-tenant credential need not name.
    const isStopped = [choice.tenant, identity.tenant].some((tenant) => deps.isTenantStopped?.(tenant));
    if (isStopped) return { kind: 'refused', code: 'tenant_suspended' };
    const named = honoursHeaders ? withHeaderPrincipal(identity, presented, deps.roles?.()) : identity;
    return { kind: 'caller', caller: toCaller(named, choice), credential: toCredentialRef(identity), byCookie };
  };
  return (presented) => whenKnown(identify(presented, deps, settings), (identified) => decide(presented, identified));
}

interface Identified {
  identity: Identity | undefined;
  byCookie: boolean;
}

function identify(
  presented: Presented,
  { keys, bearer, sessions }: AuthenticateDeps,
  settings: AuthenticateSettings,
): Soon<Identified> {
  const bySession = (token: string) =>
    whenKnown(sessions?.find(token), (session) => session && resolveSession(session, keys));
  const byKey = (key: string) => (key.startsWith(sessionPrefix) ? bySession(key) : findKey(sha256(key), keys));

  const token = /^bearer +(\S.*)$/i.exec(presented.authorization?.trim() ?? '')?.[1]?.trim();
  // A session is opened by a key or a password, so SVC_JWT_REQUIRED refuses sessions too.
  if (token && !token.startsWith(sessionPrefix)) return whenKnown(byBearer(token, bearer), presentedBy);
  if (settings.jwtRequired) return presentedBy(undefined);
  if (token) return whenKnown(bySession(token), presentedBy);
  const key = bareKey(presented.apiKey ?? '');
  if (key) return whenKnown(byKey(key), presentedBy);
  const [cookie, second] = sessionCookies(presented.cookie);
  // A sibling site can set a cookie for the whole domain, and the order of two cookies is up to the browser.
  if (second !== undefined) return presentedBy(undefined);
  if (cookie !== undefined) return whenKnown(bySession(cookie), (identity) => ({ identity, byCookie: true }));
  if (presented.protocols) return whenKnown(byKey(getProtocolKey(presented.protocols) ?? ''), presentedBy);
  return presentedBy(settings.allowAnonymous && !settings.production ? anonymous(settings.defaultTenant) : undefined);
}

const presentedBy = (identity: Identity | undefined): Identified => ({ identity, byCookie: false });

function byBearer(token: string, checks: readonly BearerCheck[], at = 0): Soon<Identity | undefined> {
  const check = checks[at];
  return check && whenKnown(check(token), (identity) => identity ?? byBearer(token, checks, at + 1));
}

/**
 * Removes whitespace and quotes that were copied along with a key. A loop, because a pattern that ends in `+$` takes quadratic
 * time on a long run of quotes.
 */
export function bareKey(text: string): string {
  const isPadding = /["'\s]/;
  let [from, to] = [0, text.length];
  while (from < to && isPadding.test(text.charAt(from))) from += 1;
  while (to > from && isPadding.test(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

/** The session tokens of a request, wherever they are sent; the first is that of its caller, if any is. */
export function findSessionTokens({ authorization, apiKey, cookie }: Presented): string[] {
  const bearer = /^bearer +(\S.*)$/i.exec(authorization?.trim() ?? '')?.[1]?.trim() ?? '';
  return [bearer, bareKey(apiKey ?? ''), ...sessionCookies(cookie)].filter((text) => text.startsWith(sessionPrefix));
}

export const sessionCookieName = 'svc_session';

/** Session tokens in a Cookie header: several when more than one site may set the cookie. */
export function sessionCookies(header: string | undefined): string[] {
  const pairs = (header ?? '').split(';').filter((part) => part.trim().startsWith(`${sessionCookieName}=`));
  return pairs.map((pair) => pair.slice(pair.indexOf('=') + 1).trim()).filter((token) => token !== '');
}

const anonymous = (tenant: string): Identity => ({
  tenant,
  principalId: '',
  role: 'anonymous',
  keyId: '',
  keyName: '',
  allowCrossTenant: false,
  source: 'anonymous',
  submitter: 'anonymous',
});

/** Applies header principals: a name if the credential has none, and a role if it grants no more than the credential's. */
function withHeaderPrincipal(
  identity: Identity,
  presented: Presented,
  roles?: Readonly<Record<string, Role>>,
): Identity {
  if (!presented.principalId && !presented.principalRole) return identity;
  const principalId = identity.principalId || plainName(presented.principalId);
  const wanted = plainName(presented.principalRole).toLowerCase();
  const role = wanted && coversRole(identity.role, wanted, roles) ? wanted : identity.role;
  return { ...identity, principalId, role };
}

const plainName = (name: string | undefined): string => {
  const trimmed = (name ?? '').trim();
  return /^[\w.@:/+-]{1,256}$/.test(trimmed) ? trimmed : '';
};

const toCredentialRef = ({ submitter, keyId, sessionId, source, expiresAtMs }: Identity): CredentialRef => ({
  // A session ends with its key.
  ids: source === 'anonymous' ? [] : [submitter, keyId, sessionId ?? ''].filter(Boolean),
  ...(expiresAtMs !== undefined && { expiresAtMs }),
});

const toCaller = (identity: Identity, { tenant, scope }: { tenant: string; scope: string }): Caller => ({
  tenant,
  scope,
  principalId: identity.principalId,
  role: identity.role,
  keyId: identity.keyId,
  keyName: identity.keyName,
  allowCrossTenant: identity.allowCrossTenant,
  source: identity.source,
  // `|` separates identities, and the subject of a token may contain it.
  submitterId: `${identity.submitter}|principal:${identity.principalId.replaceAll('|', '%7C')}`,
  ...(identity.scopes && { scopes: identity.scopes }),
  ...(identity.userId !== undefined && { userId: identity.userId }),
  ...(identity.sessionId !== undefined && { sessionId: identity.sessionId }),
});
