import { splitGrant, withGrant } from '@svc/contract';
import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { getKeyId } from './packet-signature';

/** Time in which a worker must start a dispatch after it was signed. See docs/reference/worker-protocol.md#grants. */
const VALID_SEC = 600;
/** Accepted difference of two clocks. */
const SKEW_SEC = 60;
const ISSUER = 'svc';
const TYPE = 'svc-grant+jwt';

/** What the platform states about one dispatch. */
export interface GrantFacts {
  tenant: string;
  jobId: string;
  /** The grant is used at most once for each dispatch. */
  dispatchId: string;
  attempt: number;
  workerId: string;
  /** Whether people approved the job, or policy permitted it without an approval. */
  approval: 'granted' | 'not_required';
  /** Decision of policy. */
  decision: string;
  policySnapshot: string;
  /** Hash of the job to which its approval is bound. */
  jobHash: string;
  /** With `granted` only, and only for persons that the record names. */
  approver?: { name: string; role: string; atSec: number };
  /** SHA-256 (hex) of the input document that was approved. */
  inputSha256?: string;
}

export interface GrantSigner {
  /** The first 16 hex digits of the SHA-256 of the public key in SPKI form. */
  keyId: string;
  publicKeyPem: string;
  /** Adds a grant to a dispatch in its deterministic encoding. */
  seal(packet: Uint8Array, facts: GrantFacts, nowMs: number): Uint8Array;
}

export interface GrantKey {
  id: string;
  key: KeyObject;
}

export type GrantFault = 'grant_missing' | 'grant_invalid' | 'grant_expired';

/** Length that a grant adds to a packet at most. Names in it are bounded by the limits of the API. */
export const maxGrantBytes = 4_096;

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const getHeader = (keyId: string) => encode({ alg: 'EdDSA', typ: TYPE, kid: keyId });
const sha256Hex = (bytes: Uint8Array) => hash('sha256', bytes);

/** @param key private Ed25519 key */
export function openGrantSigner(key: KeyObject): GrantSigner {
  const publicKey = requireEd25519(createPublicKey(key));
  const keyId = getKeyId(publicKey);
  const header = getHeader(keyId);
  return {
    keyId,
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    seal: (packet, facts, nowMs) =>
      withGrant(packet, (request) => {
        const signed = `${header}.${encode(toClaims(facts, sha256Hex(request), Math.floor(nowMs / 1_000)))}`;
        return Buffer.from(`${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`);
      }),
  };
}

/** @param pem public key. @throws Error when it is no Ed25519 key */
export function openGrantKey(pem: string): GrantKey {
  const key = requireEd25519(createPublicKey(pem));
  return { id: getKeyId(key), key };
}

function requireEd25519(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new Error('not an Ed25519 key');
}

function toClaims(facts: GrantFacts, requestSha256: string, nowSec: number) {
  const { approver, inputSha256 } = facts;
  return {
    iss: ISSUER,
    aud: facts.workerId,
    jti: facts.dispatchId,
    iat: nowSec,
    exp: nowSec + VALID_SEC,
    tenant: facts.tenant,
    job: facts.jobId,
    attempt: facts.attempt,
    approval: facts.approval,
    decision: facts.decision,
    policy_snapshot: facts.policySnapshot,
    job_hash: facts.jobHash,
    request_sha256: requestSha256,
    ...(approver && { approver: approver.name, approver_role: approver.role, approved_at: approver.atSec }),
    ...(inputSha256 !== undefined && { input_sha256: inputSha256 }),
  };
}

/** The dispatch that a worker received, as it understood it. */
export type ReceivedDispatch = Pick<GrantFacts, 'tenant' | 'jobId' | 'dispatchId' | 'attempt' | 'workerId'>;

/**
 * Verifies the grant of a received dispatch. The caller keeps the ids of used grants.
 *
 * @param packet the received bytes
 */
export function verifyGrant(
  packet: Uint8Array,
  keys: readonly GrantKey[],
  received: ReceivedDispatch,
  nowMs: number,
): { kind: 'valid'; facts: GrantFacts; expiresAtMs: number } | { kind: 'fault'; fault: GrantFault } {
  const parts = splitGrant(packet);
  if (!parts) return { kind: 'fault', fault: 'grant_invalid' };
  if (parts.grant.length === 0) return { kind: 'fault', fault: 'grant_missing' };
  const claims = readSigned(Buffer.from(parts.grant).toString('latin1'), keys);
  if (!claims || claims['request_sha256'] !== sha256Hex(parts.request) || !names(claims, received)) {
    return { kind: 'fault', fault: 'grant_invalid' };
  }
  const { iat, exp, approval } = claims;
  const nowSec = nowMs / 1_000;
  if (typeof iat !== 'number' || typeof exp !== 'number' || iat > nowSec + SKEW_SEC) {
    return { kind: 'fault', fault: 'grant_invalid' };
  }
  if (approval !== 'granted' && approval !== 'not_required') return { kind: 'fault', fault: 'grant_invalid' };
  if (nowSec > exp + SKEW_SEC) return { kind: 'fault', fault: 'grant_expired' };
  return { kind: 'valid', facts: { ...received, ...toFacts(claims), approval }, expiresAtMs: (exp + SKEW_SEC) * 1_000 };
}

/** The claims of a token that one of the keys signed. The header must be exactly the one that the platform writes. */
function readSigned(token: string, keys: readonly GrantKey[]): Record<string, unknown> | undefined {
  const [header = '', body = '', signature = '', ...more] = token.split('.');
  const key = keys.find(({ id }) => getHeader(id) === header);
  if (!key || more.length > 0) return undefined;
  try {
    const bytes = Buffer.from(signature, 'base64url');
    if (!verify(null, Buffer.from(`${header}.${body}`), key.key, bytes)) return undefined;
    return JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

const names = (claims: Record<string, unknown>, received: ReceivedDispatch): boolean =>
  claims['iss'] === ISSUER &&
  claims['aud'] === received.workerId &&
  claims['jti'] === received.dispatchId &&
  claims['job'] === received.jobId &&
  claims['attempt'] === received.attempt &&
  claims['tenant'] === received.tenant;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function toFacts(claims: Record<string, unknown>) {
  const { approver, approved_at: at, input_sha256: input } = claims;
  return {
    decision: text(claims['decision']),
    policySnapshot: text(claims['policy_snapshot']),
    jobHash: text(claims['job_hash']),
    ...(typeof approver === 'string' && {
      approver: { name: approver, role: text(claims['approver_role']), atSec: Number(at) || 0 },
    }),
    ...(typeof input === 'string' && { inputSha256: input }),
  };
}
