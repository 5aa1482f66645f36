import { StartError, type ApiEnv } from '@svc/runtime';
import { readFileSync } from 'node:fs';
import { openDataTokens, type DataTokens } from './data-token';

const MIN_KEY_CHARS = 32;

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

function readKey(path: string): string {
  const fail = (why: string) =>
    new StartError(
      `data URLs cannot be signed: ${why}`,
      `SVC_DATA_URL_KEY_PATH (${path})`,
      'Set it to a readable file that contains the key.',
    );
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw fail(error instanceof Error ? error.message : String(error));
  }
  if (text.length < MIN_KEY_CHARS) throw fail(`the key must have at least ${MIN_KEY_CHARS} characters`);
  return text;
}
