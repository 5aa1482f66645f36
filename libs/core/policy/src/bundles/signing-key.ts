import { createPrivateKey, type KeyObject } from 'node:crypto';

const seedBytes = 32;
/** PKCS #8 prefix of an Ed25519 private key. */
const seedHead = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Reads a private Ed25519 key: PEM, or in base64 or hex its PKCS #8 form, its 32-byte seed, or the seed followed by the
 * public key. See docs/reference/policy.md#bundles.
 *
 * @returns undefined when the text is no such key
 */
export function readSigningKey(text: string): KeyObject | undefined {
  const trimmed = text.trim();
  const key = trimmed.startsWith('-----BEGIN') ? parseKey({ key: trimmed, format: 'pem' }) : fromBytes(trimmed);
  return key?.asymmetricKeyType === 'ed25519' ? key : undefined;
}

function fromBytes(text: string): KeyObject | undefined {
  const bytes = Buffer.from(text, /^([0-9a-f]{2})+$/i.test(text) ? 'hex' : 'base64');
  const isSeed = bytes.length === seedBytes || bytes.length === seedBytes * 2;
  const der = isSeed ? Buffer.concat([seedHead, bytes.subarray(0, seedBytes)]) : bytes;
  return parseKey({ key: der, format: 'der', type: 'pkcs8' });
}

function parseKey(input: Parameters<typeof createPrivateKey>[0]): KeyObject | undefined {
  try {
    return createPrivateKey(input);
  } catch {
    return undefined; // not a key, which is what the caller reports
  }
}
