import { openPacketSigner, type PacketSigner } from '@svc/jetstream';
import { type ApiEnv, StartError } from '@svc/runtime';
import { readKeyFile } from './key-file';
import { openSessionTokens, type SessionTokens } from './worker-session-token';

type KeyEnv = Pick<ApiEnv, 'packetSigningKey' | 'packetSigningKeyPath'>;

/**
 * Opens the key that signs the packets of this service; undefined when none is set.
 *
 * @throws StartError when the file cannot be read or the key is no P-256 key
 */
export function packetSignerFrom(env: KeyEnv): PacketSigner | undefined {
  return openKey(env, openPacketSigner);
}

/** Opens the tokens of worker sessions; undefined when no packet signing key is set. @throws StartError likewise */
export function sessionTokensFrom(env: KeyEnv): SessionTokens | undefined {
  return openKey(env, openSessionTokens);
}

function openKey<T>(env: KeyEnv, open: (pem: string) => T): T | undefined {
  const { packetSigningKey, packetSigningKeyPath: path } = env;
  const name = path === undefined ? 'SVC_PACKET_SIGNING_KEY' : 'SVC_PACKET_SIGNING_KEY_PATH';
  const pem = path === undefined ? packetSigningKey : readKeyFile(path, name, 'packets cannot be signed')[0];
  if (pem === undefined) return undefined;
  try {
    return open(pem);
  } catch {
    // Without the cause, which may contain a part of the key.
    const fix = 'Generate one, for example with `openssl ecparam -name prime256v1 -genkey -noout`.';
    throw new StartError('packets cannot be signed: not a P-256 private key in PEM', name, fix);
  }
}
