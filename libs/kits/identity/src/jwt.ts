import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { decode, verify, type Algorithm, type JwtHeader } from 'jsonwebtoken';
import { sha256 } from './digest';
import { isTenantName, roleName, type Identity } from './identity';
import { secretProblem } from './secret-strength';
import { watchFile } from './watched-file';

/** Each variable is `SVC_JWT_` and the field's name; an unset variable is an empty string. */
export interface JwtSettings {
  /** Raw bytes, or `base64:` followed by base64. */
  hmacSecret: string;
  /** PEM, PKIX or PKCS1. */
  publicKey: string;
  publicKeyPath: string;
  issuer: string;
  audience: string;
  defaultRole: string;
  clockSkewSec: number;
  /** TENANT_ID. */
  defaultTenant: string;
  production: boolean;
}

/** Checks a bearer token that is not a session; undefined = refused. */
export type BearerCheck = (token: string) => Identity | undefined | Promise<Identity | undefined>;

const MAX_SKEW_SEC = 300;
const rereadMs = 30_000;

/**
 * Checks tokens against static keys: HS256 and RS256 only, each with the key of its own kind, `exp` required. Undefined when
 * no key is configured.
 *
 * @throws Error naming the variable when a key cannot be read or production lacks issuer or audience
 */
export function openJwt(
  settings: JwtSettings,
  { nowMs, onProblem, onChanged }: { nowMs(): number; onProblem(problem: Error): void; onChanged?(): void },
): BearerCheck | undefined {
  const { hmacSecret, publicKey, publicKeyPath, production, clockSkewSec } = settings;
  if (!hmacSecret && !publicKey && !publicKeyPath) return undefined;
  if (clockSkewSec > MAX_SKEW_SEC || clockSkewSec < 0) throw new Error('SVC_JWT_CLOCK_SKEW must be 0s to 5m');
  if (production && !settings.issuer) throw new Error('production requires SVC_JWT_ISSUER with a JWT key');
  if (production && !settings.audience) throw new Error('production requires SVC_JWT_AUDIENCE with a JWT key');

  const secret = hmacSecret ? secretKey(hmacSecret, production) : undefined;
  const inline = publicKey ? rsaKey(publicKey.replaceAll('\\n', '\n'), 'SVC_JWT_PUBLIC_KEY') : undefined;
  const file =
    !inline && publicKeyPath
      ? watchFile({
          path: publicKeyPath,
          parse: (text) => rsaKey(text, 'SVC_JWT_PUBLIC_KEY_PATH'),
          onProblem,
          ...(onChanged && { onChanged }),
          everyMs: rereadMs,
          nowMs,
        })
      : undefined;
  // A key is only used with its own algorithm: a public key must not be accepted as an HMAC secret.
  const keyFor = (algorithm: string): KeyObject | undefined => {
    if (algorithm === 'HS256') return secret;
    return algorithm === 'RS256' ? (inline ?? file?.current()) : undefined;
  };

  return (token) => {
    const algorithm = readHeader(token)?.alg ?? 'none';
    const key = keyFor(algorithm);
    return key && verifyToken(token, { key, algorithm: algorithm as Algorithm }, settings, nowMs());
  };
}

/** Longer tokens are refused before they are decoded. */
const MAX_TOKEN_CHARS = 8_192;

/**
 * The unverified header of a token, which only selects among configured keys: keys and URLs in it are ignored. Undefined for what
 * is no token, and for one that requires an extension (`crit`), since none is supported.
 */
export function readHeader(token: string): JwtHeader | undefined {
  const header = token.length <= MAX_TOKEN_CHARS ? decode(token, { complete: true })?.header : undefined;
  return header?.crit === undefined ? header : undefined;
}

/** Settings that tokens are verified with, whatever their keys are. */
export type TokenRules = Pick<JwtSettings, 'issuer' | 'audience' | 'defaultRole' | 'clockSkewSec' | 'defaultTenant'>;

/** The identity of a token with a valid signature of this key, and valid claims. */
export function verifyToken(
  token: string,
  { key, algorithm }: { key: KeyObject; algorithm: Algorithm },
  rules: TokenRules,
  nowMs: number,
): Identity | undefined {
  const claims = verifyClaims(token, key, algorithm, rules, nowMs);
  return claims && toIdentity(claims, rules);
}

function secretKey(secret: string, production: boolean): KeyObject {
  const bytes = secret.startsWith('base64:') ? Buffer.from(secret.slice(7), 'base64') : Buffer.from(secret);
  if (bytes.length === 0) throw new Error('SVC_JWT_HMAC_SECRET is empty');
  const weakness = production && !secret.startsWith('base64:') ? secretProblem('api_key', secret) : undefined;
  if (weakness) throw new Error(`SVC_JWT_HMAC_SECRET ${weakness}`);
  if (production && bytes.length < 32) throw new Error('SVC_JWT_HMAC_SECRET must have at least 32 bytes');
  return createSecretKey(bytes);
}

function rsaKey(pem: string, variable: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch (cause) {
    throw new Error(`${variable}: is not a public key in PEM format`, { cause });
  }
  if (key.asymmetricKeyType !== 'rsa') throw new Error(`${variable}: must be an RSA key`);
  return key;
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
