import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign, verify } from 'node:crypto';

/** Claims of a worker session. */
export interface SessionClaims {
  /** Worker id. */
  sub: string;
  tenant: string;
  sdk_ver: string;
  /** Id of the token. */
  jti: string;
  /** Unix seconds. */
  iat: number;
  exp: number;
}

export interface SessionTokens {
  issue(claims: SessionClaims): string;
  /** Claims of a token that was signed here; undefined for every other text. Expiry is not checked. */
  read(token: string): SessionClaims | undefined;
}

const MAX_TOKEN_CHARS = 4_096;
/** PKCS #8 of an Ed25519 key is this, followed by its seed. */
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Whether a text has the form of a session token, which a worker credential never has. */
export const isSessionToken = (text: string): boolean => text.startsWith('eyJ') && text.split('.').length === 3;

/**
 * Tokens of worker sessions: compact JWS with EdDSA. Their key is derived from the packet signing key, so that processes
 * which have that one need no other.
 *
 * @param pem packet signing key
 */
export function openSessionTokens(pem: string): SessionTokens {
  const secret = createPrivateKey(pem).export({ type: 'sec1', format: 'der' });
  const seed = Buffer.from(hkdfSync('sha256', secret, '', 'svc worker session', 32));
  const key = createPrivateKey({ key: Buffer.concat([ed25519Prefix, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(key);
  const kid = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16);
  const head = encode({ alg: 'EdDSA', kid, typ: 'JWT' });
  return {
    issue: (claims) => {
      const signed = `${head}.${encode(claims)}`;
      return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
    },
    read: (token) => readClaims(token, head, publicKey),
  };
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function readClaims(token: string, head: string, key: KeyObject): SessionClaims | undefined {
  // The head of our tokens is constant, so no other algorithm or key can be selected.
  if (token.length > MAX_TOKEN_CHARS || !token.startsWith(`${head}.`)) return undefined;
  const at = token.lastIndexOf('.');
  const signature = Buffer.from(token.slice(at + 1), 'base64url');
  if (!verify(null, Buffer.from(token.slice(0, at)), key, signature)) return undefined;
  return JSON.parse(Buffer.from(token.slice(head.length + 1, at), 'base64url').toString()) as SessionClaims;
}
