import type { ApiEnv } from '@svc/runtime';
import { readKeyFile } from './key-file';
import { openSealedTexts, type SealedTexts } from './sealed-text';

/**
 * Opens the encryption of users' secrets with the keys from the environment or their file; undefined when neither is set.
 *
 * @throws StartError when the file cannot be read or contains too short a key
 */
export function sealedTextsFrom(env: Pick<ApiEnv, 'userSecretKeys' | 'userSecretKeysPath'>): SealedTexts | undefined {
  const { userSecretKeys, userSecretKeysPath: path } = env;
  const [first, ...others] = path === undefined ? userSecretKeys : readKeys(path);
  return first === undefined ? undefined : openSealedTexts([first, ...others]);
}

const readKeys = (path: string) =>
  readKeyFile(path, 'SVC_USER_SECRET_KEYS_PATH', 'secrets of users cannot be encrypted', { isList: true });
