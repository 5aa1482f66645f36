import { createPublicKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePolicyKey } from './policy-key';

/** The key that signs the grants of dispatches, and the public key by which workers verify them. */
export interface GrantKey {
  file: string;
  publicKeyFile: string;
}

/** The key of this data folder, created once, so that workers keep its public key. */
export function ensureGrantKey(dataDir: string): GrantKey {
  const { file } = ensurePolicyKey(join(dataDir, 'grant-key.pem'));
  const publicKeyFile = join(dataDir, 'grant-key.pub.pem');
  writeFileSync(publicKeyFile, createPublicKey(readFileSync(file)).export({ type: 'spki', format: 'pem' }));
  return { file, publicKeyFile };
}

/** The variable of the services. Without workers that verify grants, none is signed. */
export function grantVariables({ file }: GrantKey, callers: NodeJS.ProcessEnv): Record<string, string> {
  const hasKey = callers['SVC_GRANT_SIGNING_KEY'] ?? callers['SVC_GRANT_SIGNING_KEY_PATH'];
  return hasKey === undefined ? { SVC_GRANT_SIGNING_KEY_PATH: file } : {};
}
