import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The key that signs the packets of the services, and the public key by which workers verify them. */
export interface PacketKey {
  file: string;
  publicKeyFile: string;
}

/**
 * The key of this data folder, created once, so that workers keep its public key and sessions outlive a restart.
 * See docs/reference/worker-protocol.md#signatures.
 */
export function ensurePacketKey(file: string, publicKeyFile: string): PacketKey {
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
    writeFileSync(file, pem, { mode: 0o600 });
  }
  writeFileSync(publicKeyFile, createPublicKey(readFileSync(file)).export({ type: 'spki', format: 'pem' }));
  return { file, publicKeyFile };
}
