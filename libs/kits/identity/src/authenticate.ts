import { grants, resolvePermissions, type Caller, type ErrorCode, type Permission, type Role } from '@svc/contract';
import { sha256 } from './digest';
import type { Identity, KeySource } from './identity';
import type { BearerCheck } from './jwt';
import { missingScope } from './key-scope';
import { findKey, identityOfSession, sessionPrefix, type Sessions } from './sessions';
import { chooseTenant } from './tenant';
import { keyOfProtocols } from './web-socket-key';

/** What a request of any transport presents. Absent and empty mean the same. */
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
   * The route that was found, by its declared method and path, for keys bound to scopes. Never the path as it was sent: it has
   * other spellings than the one that scopes are compared with. Transports without paths leave it out.
   */
  request?: { method: string; path: string };
}

export type AuthOutcome =
  | {
      kind: 'caller';
      caller: Caller;
      /** Known by the session cookie, which browsers send along with requests that other sites make. */
      byCookie?: boolean;
    }
  | {
      kind: 'refused';
      code: Extract<
        ErrorCode,
        'unauthorized' | 'tenant_access_denied' | 'tenant_id_required' | 'key_scope_insufficient'
      >;
      extras?: Record<string, unknown>;
    };
export type Authenticate = (presented: Presented) => Promise<AuthOutcome>;

export interface AuthenticateDeps {
  /** Configured keys first, then managed ones. */
  keys: readonly KeySource[];
  /** Static-key JWT first, then OIDC. */
  bearer: readonly BearerCheck[];
  sessions: Pick<Sessions, 'find'> | undefined;
  /** Stored and built-in roles, for lowering a role by header. */
  roles?: () => Readonly<Record<string, Role>>;
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
 * The one authenticator of REST, gRPC and WebSocket. A credential that is presented decides:
 * when it is wrong, no weaker one is tried.
 */
export function authenticator(deps: AuthenticateDeps, settings: AuthenticateSettings): Authenticate {
  const honoursHeaders = !settings.production || settings.allowHeaderPrincipal;
  return async (presented) => {
    const { identity, byCookie } = await identify(presented, deps, settings);
    if (!identity) return { kind: 'refused', code: 'unauthorized' };

    const { request } = presented;
    const required = identity.scopes && request && missingScope(identity.scopes, request.method, request.path);
    if (required !== undefined) {
      const reason = 'key_scope_insufficient';
      return { kind: 'refused', code: reason, extras: { reason, details: { required, granted: identity.scopes } } };
    }

    const choice = chooseTenant(identity, presented.tenant, settings.defaultTenant);
    if (choice.kind === 'refused') return choice;
    const named = honoursHeaders ? withHeaderPrincipal(identity, presented, deps.roles?.()) : identity;
    return { kind: 'caller', caller: callerOf(named, choice), byCookie };
  };
}

async function identify(
  presented: Presented,
  { keys, bearer, sessions }: AuthenticateDeps,
  settings: AuthenticateSettings,
): Promise<{ identity: Identity | undefined; byCookie: boolean }> {
  const bySession = async (token: string) => {
    const record = await sessions?.find(token);
    return record && identityOfSession(record, keys);
  };
  const byKey = (key: string) => (key.startsWith(sessionPrefix) ? bySession(key) : findKey(sha256(key), keys));

  const token = /^bearer +(\S.*)$/i.exec(presented.authorization?.trim() ?? '')?.[1]?.trim();
  // Sessions stand for API keys, so a deployment that wants JWTs only refuses them too.
  if (token && !token.startsWith(sessionPrefix)) return presentedBy(await byBearer(token, bearer));
  if (settings.jwtRequired) return presentedBy(undefined);
  if (token) return presentedBy(await bySession(token));
  const key = bareKey(presented.apiKey ?? '');
  if (key) return presentedBy(await byKey(key));
  const [cookie, second] = sessionCookies(presented.cookie);
  // A neighbouring site can add a cookie for the whole domain, and which of two comes first is for the browser to say.
  if (second !== undefined) return presentedBy(undefined);
  if (cookie !== undefined) return { identity: await bySession(cookie), byCookie: true };
  if (presented.protocols) return presentedBy(await byKey(keyOfProtocols(presented.protocols) ?? ''));
  return presentedBy(settings.allowAnonymous && !settings.production ? anonymous(settings.defaultTenant) : undefined);
}

const presentedBy = (identity: Identity | undefined) => ({ identity, byCookie: false });

async function byBearer(token: string, checks: readonly BearerCheck[]): Promise<Identity | undefined> {
  for (const check of checks) {
    const identity = await check(token);
    if (identity) return identity;
  }
  return undefined;
}

/**
 * A key as it was issued: blanks and quotes that came along with a copied one are not part of it. From both ends inwards, since
 * a pattern that ends in `+$` looks at a long run of quotes once for each of them.
 */
export function bareKey(text: string): string {
  const isAround = /["'\s]/;
  let [from, to] = [0, text.length];
  while (from < to && isAround.test(text.charAt(from))) from += 1;
  while (to > from && isAround.test(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

export const sessionCookieName = 'svc_session';

/** The session tokens of a Cookie header: browsers send several when more than one site may set them. */
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

/** Header principals: a name where the credential has none, and a role that holds no more than the credential's. */
function withHeaderPrincipal(
  identity: Identity,
  presented: Presented,
  roles?: Readonly<Record<string, Role>>,
): Identity {
  const principalId = identity.principalId || plainName(presented.principalId);
  const wanted = plainName(presented.principalRole).toLowerCase();
  const role = wanted && holdsNoMore(wanted, identity.role, roles) ? wanted : identity.role;
  return { ...identity, principalId, role };
}

const plainName = (name: string | undefined): string => {
  const trimmed = (name ?? '').trim();
  return /^[\w.@:/+-]{1,256}$/.test(trimmed) ? trimmed : '';
};

function holdsNoMore(wanted: string, current: string, roles?: Readonly<Record<string, Role>>): boolean {
  const held = resolvePermissions(current, roles);
  const asked = [...resolvePermissions(wanted, roles)];
  return asked.every((permission) => held.has(permission) || grants(held, permission as Permission));
}

const callerOf = (identity: Identity, { tenant, scope }: { tenant: string; scope: string }): Caller => ({
  tenant,
  scope,
  principalId: identity.principalId,
  role: identity.role,
  keyId: identity.keyId,
  keyName: identity.keyName,
  allowCrossTenant: identity.allowCrossTenant,
  source: identity.source,
  // The bar separates identities: a subject of a token may hold one.
  submitterId: `${identity.submitter}|principal:${identity.principalId.replaceAll('|', '%7C')}`,
  ...(identity.scopes && { scopes: identity.scopes }),
});
