import { openPacketSigner, type PacketSigner } from '@svc/jetstream';
import { type ApiEnv, StartError } from '@svc/runtime';
import { readKeyFile } from './key-file';

/**
 * Opens the key that signs the packets of this service; undefined when none is set.
 *
 * @throws StartError when the file cannot be read or the key is no P-256 key
 */
export function packetSignerFrom(
  env: Pick<ApiEnv, 'packetSigningKey' | 'packetSigningKeyPath'>,
): PacketSigner | undefined {
  const { packetSigningKey, packetSigningKeyPath: path } = env;
  const name = path === undefined ? 'SVC_PACKET_SIGNING_KEY' : 'SVC_PACKET_SIGNING_KEY_PATH';
  const pem = path === undefined ? packetSigningKey : readKeyFile(path, name, 'packets cannot be signed')[0];
  if (pem === undefined) return undefined;
  try {
    return openPacketSigner(pem);
  } catch {
    // Without the cause, which may contain a part of the key.
    const fix = 'Generate one, for example with `openssl ecparam -name prime256v1 -genkey -noout`.';
    throw new StartError('packets cannot be signed: not a P-256 private key in PEM', name, fix);
  }
}
