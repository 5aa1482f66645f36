import type { KeyObject } from 'node:crypto';
import { decode, verify, type Algorithm, type JwtHeader } from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { sha256 } from './digest';
import { isTenantName, roleName, type Identity } from './identity';

/** Settings that tokens are verified with, whatever their keys are; an unset one is an empty string. */
export interface TokenRules {
  issuer: string;
  audience: string;
  defaultRole: string;
  clockSkewSec: number;
  /** TENANT_ID. */
  defaultTenant: string;
}

export interface VerificationKey {
  key: KeyObject;
  algorithm: Algorithm;
}

/** A token whose header was read. */
export interface PresentedToken {
  /** Unverified: it only selects among configured keys, and keys and URLs in it are ignored. */
  readonly header: JwtHeader;
  readonly token: string;
  readonly digest: string;
}

interface Verified {
  header: JwtHeader;
  key: KeyObject;
  identity: Identity;
}

/** Longer tokens are refused before they are decoded. */
const MAX_TOKEN_CHARS = 8_192;
const MAX_REMEMBERED = 10_000;

/**
 * Verifies tokens. A verified one is remembered with the key that verified it, so that a client with many requests costs one
 * verification; a rotated key is another key, so its tokens are verified again.
 */
export class TokenVerifier {
  private readonly verified = new LRUCache<string, Verified>({ max: MAX_REMEMBERED });

  constructor(
    private readonly rules: TokenRules,
    private readonly nowMs: () => number,
  ) {}

  /** Undefined for what is no token, and for one that requires an extension (`crit`), since none is supported. */
  read(token: string): PresentedToken | undefined {
    if (token.length > MAX_TOKEN_CHARS) return undefined;
    const digest = sha256(token);
    const header = this.verified.get(digest)?.header ?? decode(token, { complete: true })?.header;
    return header && header.crit === undefined ? { header, token, digest } : undefined;
  }

  /** The identity of a token with a valid signature of this key, and valid claims. */
  verify({ header, token, digest }: PresentedToken, { key, algorithm }: VerificationKey): Identity | undefined {
    const nowMs = this.nowMs();
    const known = this.verified.get(digest);
    if (known?.key === key) return (known.identity.expiresAtMs ?? 0) > nowMs ? known.identity : undefined;
    const claims = verifyClaims(token, key, algorithm, this.rules, nowMs);
    const identity = claims && toIdentity(claims, this.rules);
    if (identity) this.verified.set(digest, { header, key, identity });
    return identity;
  }
}

/** Claims of a verified token; `exp` in seconds since 1970. */
type Claims = Record<string, unknown> & { exp: number };

function verifyClaims(
  token: string,
  key: KeyObject,
  algorithm: Algorithm,
  { issuer, audience, clockSkewSec }: TokenRules,
  nowMs: number,
): Claims | undefined {
  try {
    const claims = verify(token, key, {
      algorithms: [algorithm],
      issuer: issuer || 'svc-dev',
      ...(audience && { audience }),
      clockTolerance: clockSkewSec,
      clockTimestamp: Math.floor(nowMs / 1_000),
    });
    return typeof claims === 'object' && typeof claims.exp === 'number' ? { ...claims, exp: claims.exp } : undefined;
  } catch {
    // Every failure results in the same 401, so a caller learns nothing about the keys.
    return undefined;
  }
}

/** Role, tenant, principal and cross-tenant claims. */
function toIdentity(claims: Claims, settings: TokenRules): Identity | undefined {
  const text = (name: string): string => {
    const value = claims[name];
    return typeof value === 'string' ? value.trim() : '';
  };
  const roles: unknown = claims['roles'];
  const listed: unknown = Array.isArray(roles) ? roles.find((role) => typeof role === 'string') : undefined;
  const tenant = text('tenant') || text('tenant_id') || settings.defaultTenant;
  if (tenant && !isTenantName(tenant)) return undefined;
  const principalId = text('sub') || text('principal_id');
  return {
    tenant,
    principalId,
    role: roleName(text('role') || (typeof listed === 'string' ? listed : '') || settings.defaultRole || 'viewer'),
    keyId: '',
    keyName: '',
    allowCrossTenant: [true, 'true', '1'].includes(claims['allow_cross_tenant'] as boolean | string),
    source: 'jwt',
    submitter: `jwt:${sha256(`${settings.issuer || 'svc-dev'}\n${principalId}`).slice(0, 16)}`,
    expiresAtMs: (claims.exp + settings.clockSkewSec) * 1_000,
  };
}
