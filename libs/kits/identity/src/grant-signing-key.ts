import { type GrantSigner, openGrantSigner } from '@svc/jetstream';
import { readSigningKey } from '@svc/policy';
import { type ApiEnv, StartError } from '@svc/runtime';
import { readKeyFile } from './key-file';

export type { GrantFacts, GrantSigner } from '@svc/jetstream';

/**
 * Opens the key that signs the grants of dispatches; undefined when none is set.
 *
 * @throws StartError when the file cannot be read or the key is no private Ed25519 key
 */
export function grantSignerFrom(env: Pick<ApiEnv, 'grantSigningKey' | 'grantSigningKeyPath'>): GrantSigner | undefined {
  const { grantSigningKey, grantSigningKeyPath: path } = env;
  const name = path === undefined ? 'SVC_GRANT_SIGNING_KEY' : 'SVC_GRANT_SIGNING_KEY_PATH';
  const text = path === undefined ? grantSigningKey : readKeyFile(path, name, 'grants cannot be signed')[0];
  if (text === undefined) return undefined;
  const key = readSigningKey(text);
  if (key) return openGrantSigner(key);
  throw new StartError(
    'grants cannot be signed: not a private Ed25519 key',
    name,
    'Generate one, for example with `openssl genpkey -algorithm ed25519`.',
  );
}
