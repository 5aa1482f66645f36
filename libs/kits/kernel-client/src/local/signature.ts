import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';

export interface SignatureSettings {
  required: boolean;
  /** Ed25519, base64 or hex: the 32 bytes themselves, or their SPKI form. */
  publicKey?: string | undefined;
  /** The signature, base64 or hex; takes precedence over the file. */
  signature?: string | undefined;
  /** Default: `<policy>.sig`. */
  signaturePath?: string | undefined;
}

const keyBytes = 32;
const signatureBytes = 64;

/**
 * Checks the Ed25519 signature over a policy's raw bytes. An existing signature must be valid even when none
 * is required, if a key is configured.
 *
 * @param besidePath default path of the signature; absent for a policy by URL
 * @returns the problem, or undefined
 */
export async function signatureFault(
  bytes: Buffer,
  besidePath: string | undefined,
  settings: SignatureSettings,
): Promise<string | undefined> {
  const { required, publicKey } = settings;
  if (!publicKey) {
    return required ? 'a signature is required, but no key is configured: set SAFETY_POLICY_PUBLIC_KEY' : undefined;
  }
  const key = readPublicKey(publicKey);
  if (!key) return 'SAFETY_POLICY_PUBLIC_KEY is not an Ed25519 key in base64 or hex';
  const { text, where } = await findSignature(besidePath, settings);
  if (text === undefined) return required ? `a signature is required, but ${where} does not exist` : undefined;
  const signature = decode(text, signatureBytes);
  if (!signature) return `${where} is not an Ed25519 signature in base64 or hex`;
  return verify(null, bytes, key, signature) ? undefined : `the signature in ${where} does not match the file`;
}

async function findSignature(besidePath: string | undefined, { signature, signaturePath }: SignatureSettings) {
  if (signature) return { text: Buffer.from(signature), where: 'SAFETY_POLICY_SIGNATURE' };
  const where = signaturePath ?? besidePath;
  if (where === undefined) return { text: undefined, where: 'SAFETY_POLICY_SIGNATURE or SAFETY_POLICY_SIGNATURE_PATH' };
  return { text: await readFile(where).catch(() => undefined), where };
}

/** An Ed25519 key in base64 or hex: the 32 bytes themselves, or their SPKI form. Undefined when it is none. */
export function readPublicKey(text: string): KeyObject | undefined {
  const raw = decode(Buffer.from(text), keyBytes);
  try {
    if (raw)
      return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }, format: 'jwk' });
    const spki = createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    return spki.asymmetricKeyType === 'ed25519' ? spki : undefined;
  } catch {
    return undefined; // not a key; reported by the caller
  }
}

/** Hex, base64 or the bytes as they are, whichever has the right length. */
function decode(given: Buffer, bytes: number): Buffer | undefined {
  const text = given.toString('latin1').trim();
  const forms = [/^[0-9a-f]+$/i.test(text) ? Buffer.from(text, 'hex') : undefined, Buffer.from(text, 'base64'), given];
  return forms.find((form) => form?.length === bytes);
}
