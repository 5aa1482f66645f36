import { createPublicKey, hash, sign, verify, type KeyObject } from 'node:crypto';
import type { BundleRecord, BundleSignature } from './bundle-record';

export interface SigningKey {
  id: string;
  /** Ed25519, private. */
  key: KeyObject;
}

/** Trusted keys, by their ids in upper case. */
export type TrustedKeys = ReadonlyMap<string, KeyObject>;

/** SHA-256 of a bundle's text, hex. */
export const contentHash = (content: string): string => hash('sha256', content);

/** Signs the stored text of a bundle. See docs/reference/policy.md#bundles. */
export const signBundle = (content: string, { id, key }: SigningKey): BundleSignature => ({
  algorithm: 'ed25519',
  key_id: id,
  value: sign(null, Buffer.from(content), key).toString('base64'),
  hash: contentHash(content),
  signed_bytes: Buffer.byteLength(content),
});

/** The fault of a bundle's signature, for operators; undefined when it is valid. */
export function bundleSignatureFault({ content, _signature }: BundleRecord, trusted: TrustedKeys): string | undefined {
  if (!_signature) return 'it is not signed';
  const { algorithm, key_id, value, hash, signed_bytes } = _signature as Partial<
    Record<keyof BundleSignature, unknown>
  >;
  if (algorithm !== 'ed25519' || typeof key_id !== 'string' || typeof value !== 'string')
    return 'its signature is malformed';
  const bytes = Buffer.from(content);
  if (hash !== contentHash(content) || signed_bytes !== bytes.length) return 'its text differs from the signed text';
  const key = trusted.get(key_id.toUpperCase());
  if (!key) return `it is signed with the key ${key_id}, which is not trusted here`;
  return verify(null, bytes, key, Buffer.from(value, 'base64')) ? undefined : 'its signature does not match its text';
}

/** The public half of a signing key, for a process that signs and verifies. */
export const publicHalf = ({ key }: SigningKey): KeyObject => createPublicKey(key);
