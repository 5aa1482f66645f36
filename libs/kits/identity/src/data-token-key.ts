import type { ApiEnv } from '@svc/runtime';
import { openDataTokens, type DataTokens } from './data-token';
import { readKeyFile } from './key-file';

/**
 * Opens the data URL tokens with the key from the environment or its file; undefined when neither is set.
 *
 * @throws StartError when the file cannot be read or contains too short a key
 */
export function dataTokensFrom(env: Pick<ApiEnv, 'dataUrlKey' | 'dataUrlKeyPath'>): DataTokens | undefined {
  const { dataUrlKey, dataUrlKeyPath } = env;
  const key = dataUrlKey ?? (dataUrlKeyPath && readKey(dataUrlKeyPath));
  return key ? openDataTokens(key) : undefined;
}

const readKey = (path: string) => readKeyFile(path, 'SVC_DATA_URL_KEY_PATH', 'data URLs cannot be signed')[0];
