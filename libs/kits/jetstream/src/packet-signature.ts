import { canonicalBytes, splitSignature, withSignature } from '@svc/contract';
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** ECDSA P-256 over SHA-256, signatures in ASN.1 DER. See docs/reference/worker-protocol.md#signatures. */
const CURVE = 'prime256v1';
const HASH = 'sha256';
/** Packets sent this long before or after now have no valid signature. */
export const maxPacketAgeMs = 5 * 60_000;

export interface PacketSigner {
  /** Id of the public key: the first 16 hex digits of the SHA-256 of its SPKI form. */
  keyId: string;
  publicKeyPem: string;
  /** Returns the packet in its deterministic encoding, with a signature. */
  seal(bytes: Uint8Array): Uint8Array;
  /** Signs other bytes. */
  sign(bytes: Uint8Array): Uint8Array;
}

export interface PacketKey {
  id: string;
  key: KeyObject;
}

/** @param pem private key. @throws Error when it is no P-256 key */
export function openPacketSigner(pem: string): PacketSigner {
  const key = requireCurve(createPrivateKey(pem));
  const publicKey = createPublicKey(key);
  const signBytes = (bytes: Uint8Array) => sign(HASH, bytes, key);
  return {
    keyId: getKeyId(publicKey),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    seal: (bytes) => {
      const canonical = canonicalBytes(bytes);
      return withSignature(canonical, signBytes(canonical));
    },
    sign: signBytes,
  };
}

/** @param pem public key. @throws Error when it is no P-256 key */
export function openPacketKey(pem: string): PacketKey {
  const key = requireCurve(createPublicKey(pem));
  return { id: getKeyId(key), key };
}

/** The first 16 hex digits of the SHA-256 of a public key in SPKI form. */
export const getKeyId = (key: KeyObject): string =>
  createHash(HASH)
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16);

function requireCurve(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === CURVE) return key;
  throw new Error('not a P-256 key');
}

export type SignatureFault = 'signature_missing' | 'signature_invalid';

/**
 * Fault of the signature of a packet, or undefined. All keys are tried: during a rotation several are valid.
 *
 * @param sentMs `created_at` of the packet
 */
export function findSignatureFault(
  bytes: Uint8Array,
  keys: readonly PacketKey[],
  sentMs: number,
  nowMs: number,
): SignatureFault | undefined {
  const parts = splitSignature(bytes);
  if (!parts) return 'signature_invalid';
  const { signed, signature } = parts;
  if (signature.length === 0) return 'signature_missing';
  if (Math.abs(nowMs - sentMs) > maxPacketAgeMs) return 'signature_invalid';
  return keys.some(({ key }) => isSignedBy(signed, signature, key)) ? undefined : 'signature_invalid';
}

/** @param signature DER; anything else is not valid */
export function isSignedBy(bytes: Uint8Array, signature: Uint8Array, key: KeyObject): boolean {
  try {
    return verify(HASH, bytes, key, signature);
  } catch {
    return false;
  }
}
