import { tierLimit, type AuditAct, type Role } from '@svc/contract';
import type { RefusedRequest } from '@svc/http';
import type { License, Sessions } from '@svc/identity';
import type { Store } from '@svc/store';

/** What sign-ins with every kind of provider need. */
export interface SignInDeps {
  store: Pick<Store, 'users'>;
  clock: { nowMs(): number };
  random: { uuid(): string };
  license: Pick<License, 'entitlements'>;
  roles(): Readonly<Record<string, Role>>;
  /** Whether a tenant is suspended or being deleted. */
  isTenantStopped(tenant: string): boolean;
  sessions: Sessions;
  /** The session cookie is sent over TLS only, also where a proxy hides it. */
  secureCookies: boolean;
  /** Streams of the user are checked again; after a write that ended sessions. */
  announce(id: string): void;
  /** Runs a sign-in, and records it in the audit chain of the tenant. @throws store_unavailable */
  audited<T>(tenant: string, act: AuditAct, request: () => Promise<T>): Promise<T>;
  /** A refused sign-in, for the audit. */
  onRefused(refused: RefusedRequest): void;
  log: { warn(message: string, fields?: Record<string, unknown>): void };
  /** Page to which sign-ins return by default. */
  defaultPage: string;
  /** SVC_AUTH_SSO_FRAGMENT_TOKEN. */
  fragmentToken: boolean;
}

/** A request of a browser that signs in. */
export interface SignInRequest {
  address: string;
  requestId: string;
  /** The Cookie header. */
  cookie: string | undefined;
  /** Whether the browser uses TLS. */
  isSecure: boolean;
  method: string;
  /** Declared path of the route. */
  path: string;
}

/** @throws tier_limit_exceeded */
export function requireEntitled({ license }: Pick<SignInDeps, 'license'>, ...features: readonly ('sso' | 'saml')[]): void {
  const entitlements = license.entitlements();
  const missing = features.find((feature) => !entitlements[feature]);
  if (missing === undefined) return;
  const message = `the license does not include ${missing === 'saml' ? 'SAML' : 'single sign-on'}`;
  throw tierLimit({ message, limit: missing, current: 0, allowed: 0 });
} // prettier-ignore
