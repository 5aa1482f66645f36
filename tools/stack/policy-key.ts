import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The key that signs policy bundles, and the public key that kernels trust. */
export interface PolicyKey {
  file: string;
  /** SPKI, base64. */
  publicKey: string;
}

/**
 * The key of this data folder, created once so that bundles remain valid after a restart.
 * See docs/reference/policy.md#bundles.
 */
export function ensurePolicyKey(file: string): PolicyKey {
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
    writeFileSync(file, pem, { mode: 0o600 });
  }
  const publicKey = createPublicKey(createPrivateKey(readFileSync(file)));
  return { file, publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64') };
}
