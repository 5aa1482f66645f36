import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import type { Algorithm } from 'jsonwebtoken';
import type { Identity } from './identity';
import { secretProblem } from './secret-strength';
import { TokenVerifier, type TokenRules } from './token-verifier';
import { watchFile } from './watched-file';

/** Each variable is `SVC_JWT_` and the field's name; an unset variable is an empty string. */
export interface JwtSettings extends TokenRules {
  /** Raw bytes, or `base64:` followed by base64. */
  hmacSecret: string;
  /** PEM, PKIX or PKCS1. */
  publicKey: string;
  publicKeyPath: string;
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

  const verifier = new TokenVerifier(settings, nowMs);
  return (token) => {
    const presented = verifier.read(token);
    const algorithm = presented?.header.alg ?? 'none';
    const key = keyFor(algorithm);
    return presented && key && verifier.verify(presented, { key, algorithm: algorithm as Algorithm });
  };
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
