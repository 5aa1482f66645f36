import { canonicalJson } from '@svc/json';
import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { sha256 } from './chain';

/** The head of a chain and the root of its Merkle tree at a time. Signed, it commits to every event before it. */
export interface Checkpoint {
  /** Id of the installation. */
  installation: string;
  tenant_id: string;
  /** Number of events, and the sequence number of the newest. */
  seq: number;
  event_hash: string;
  /** Root (hex) of the Merkle tree over the events 1 to `seq`, as in RFC 6962. */
  merkle_root: string;
  /** RFC 3339. */
  at: string;
}

export interface SignedCheckpoint extends Checkpoint {
  /** First 16 hex digits of the SHA-256 of the public key (SPKI, DER). */
  key_id: string;
  /** Ed25519, base64url, of the canonical JSON of all other fields. */
  signature: string;
}

/** @param key Ed25519, private or public */
export const getKeyId = (key: KeyObject): string =>
  sha256((key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' })).slice(0, 16);

export function signCheckpoint(checkpoint: Checkpoint, key: KeyObject): SignedCheckpoint {
  const signed = { ...checkpoint, key_id: getKeyId(key) };
  return { ...signed, signature: sign(null, Buffer.from(canonicalJson(signed)), key).toString('base64url') };
}

/** Whether one of the keys signed it. @param keys Ed25519 */
export function isSigned({ signature, ...signed }: SignedCheckpoint, keys: readonly KeyObject[]): boolean {
  const bytes = Buffer.from(canonicalJson(signed));
  return keys.some(
    (key) => getKeyId(key) === signed.key_id && verify(null, bytes, key, Buffer.from(signature, 'base64url')),
  );
}
