import { isRecord } from '@svc/json';
import { sign, verify, type KeyObject } from 'node:crypto';

/** One delegation of a chain, root first. */
export interface ChainLink {
  /** Agent that delegates. */
  agent_id: string;
  /** Unix seconds. */
  issued_at: number;
  expires_at: number;
  jti: string;
  /** '' for the root. */
  parent_jti: string;
  /** `svc` for the root, else the agent that delegated to this one. */
  issued_by: string;
}

/** Claims of a delegation token. See docs/reference/agents.md#delegations. */
export interface DelegationClaims {
  iss: string;
  sub: string;
  aud: string[];
  /** Unix seconds. */
  iat: number;
  nbf: number;
  exp: number;
  jti: string;
  tenant: string;
  allowed_actions: string[];
  allowed_topics: string[];
  delegation_chain: ChainLink[];
  chain_depth: number;
  parent_token_jti: string;
}

/** The key that signs tokens, and those that verify them. */
export interface DelegationKeys {
  signing: { kid: string; key: KeyObject };
  /** By key id; contains that of the signing key. */
  verifying: ReadonlyMap<string, KeyObject>;
}

export const issuer = 'svc';
export const MAX_TOKEN_CHARS = 65_536;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A compact JWS with Ed25519. */
export function signToken(claims: DelegationClaims, { signing }: DelegationKeys): string {
  const signed = `${encode({ alg: 'EdDSA', kid: signing.kid, typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), signing.key).toString('base64url')}`;
}

/**
 * Reads a token with a valid signature. The algorithm is fixed, and the key is one of ours: nothing in the token selects another.
 */
export function readToken(
  token: string,
  { verifying }: Pick<DelegationKeys, 'verifying'>,
): { claims: DelegationClaims } | { fault: 'malformed' | 'unknown_kid' | 'bad_signature' } {
  const [head = '', body = '', signature = '', ...more] = token.length > MAX_TOKEN_CHARS ? [] : token.split('.');
  const header = decode(head);
  const claims = decode(body);
  if (more.length > 0 || !signature || header?.['alg'] !== 'EdDSA' || header['typ'] !== 'JWT' || 'crit' in header)
    return { fault: 'malformed' };
  if (!isClaims(claims)) return { fault: 'malformed' };
  const key = verifying.get(String(header['kid']));
  if (!key) return { fault: 'unknown_kid' };
  const bytes = Buffer.from(signature, 'base64url');
  const isValid = bytes.toString('base64url') === signature && verify(null, Buffer.from(`${head}.${body}`), key, bytes);
  return isValid ? { claims } : { fault: 'bad_signature' };
}

function decode(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined; // not JSON, which the caller reports
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);
const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

function isClaims(value: Record<string, unknown> | undefined): value is Record<string, unknown> & DelegationClaims {
  if (!value) return false;
  const { iss, sub, aud, iat, nbf, exp, jti, tenant, chain_depth: depth, parent_token_jti: parent } = value;
  const { allowed_actions, allowed_topics, delegation_chain: chain } = value;
  return (
    [iss, sub, jti, tenant, parent].every(isText) &&
    isTexts(aud) &&
    [iat, nbf, exp, depth].every(isTime) &&
    isTexts(allowed_actions) &&
    isTexts(allowed_topics) &&
    Array.isArray(chain) &&
    chain.every(isLink)
  );
}

const isLink = (link: unknown): boolean =>
  isRecord(link) &&
  [link['agent_id'], link['jti'], link['parent_jti'], link['issued_by']].every(isText) &&
  [link['issued_at'], link['expires_at']].every(isTime);
