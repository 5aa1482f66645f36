import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Encrypts secrets of users that are needed again in clear text. */
export interface SealedTexts {
  /** @param owner id of the record in which the text is stored; it can be opened only with the same one */
  seal(text: string, owner: string): string;
  /** Undefined when the text was sealed with no known key, or for another owner. */
  open(sealed: string, owner: string): string | undefined;
}

const ALGORITHM = 'aes-256-gcm';
const VERSION = 1;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + SALT_BYTES + NONCE_BYTES;
const PURPOSE = 'svc:user-secret';

/**
 * Each text has a key of its own, derived from the secret and a random salt, so that no nonce is used twice with one key.
 *
 * @param secrets the first seals, all open: to rotate, put a new one first
 */
export function openSealedTexts(secrets: readonly [string, ...string[]]): SealedTexts {
  return {
    seal(text, owner) {
      const [salt, nonce] = [randomBytes(SALT_BYTES), randomBytes(NONCE_BYTES)];
      const cipher = createCipheriv(ALGORITHM, deriveKey(secrets[0], salt), nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(owner));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return Buffer.concat([Buffer.of(VERSION), salt, nonce, body]).toString('base64url');
    },
    open(sealed, owner) {
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length < HEADER_BYTES + TAG_BYTES || bytes[0] !== VERSION) return undefined;
      for (const secret of secrets) {
        const text = decrypt(bytes, deriveKey(secret, bytes.subarray(1, 1 + SALT_BYTES)), owner);
        if (text !== undefined) return text;
      }
      return undefined;
    },
  };
}

const deriveKey = (secret: string, salt: Uint8Array): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, PURPOSE, 32));

/** @returns undefined when the bytes were not sealed with this key for this owner */
function decrypt(bytes: Buffer, key: Buffer, owner: string): string | undefined {
  const nonce = bytes.subarray(1 + SALT_BYTES, HEADER_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = decipher.update(bytes.subarray(HEADER_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
