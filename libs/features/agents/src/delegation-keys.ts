import type { DelegationKeys } from '@svc/delegation';
import { readSigningKey } from '@svc/policy';
import { type ApiEnv, StartError } from '@svc/runtime';
import { createPublicKey, type KeyObject } from 'node:crypto';

type DelegationEnv = Pick<ApiEnv, 'delegationPrivateKey' | 'delegationKeyId' | 'delegationPublicKeys'>;

/**
 * The keys of delegation tokens; undefined when there are none. Earlier public keys verify tokens that were issued before a
 * rotation.
 *
 * @throws StartError when a key cannot be used
 */
export function openDelegationKeys(env: DelegationEnv): DelegationKeys | undefined {
  const { delegationPrivateKey: text, delegationKeyId: kid } = env;
  if (text === undefined) return undefined;
  const key = readSigningKey(text);
  if (!key) throw unusable('SVC_DELEGATION_PRIVATE_KEY', 'Give it a private Ed25519 key.');
  const earlier = Object.entries(env.delegationPublicKeys).map(([name, encoded]) => {
    const id = name.toLowerCase().replaceAll('_', '-');
    return [id, readPublicKey(encoded, `SVC_DELEGATION_PUBLIC_KEY_${name}`)] as const;
  });
  return { signing: { kid, key }, verifying: new Map([...earlier, [kid, createPublicKey(key)]]) };
}

/** SPKI of an Ed25519 key is this, followed by its 32 bytes. */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

function readPublicKey(encoded: string, name: string): KeyObject {
  const bytes = Buffer.from(encoded, 'base64');
  const der = bytes.length === 32 ? Buffer.concat([spkiPrefix, bytes]) : bytes;
  try {
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Reported below.
  }
  throw unusable(name, 'Give it a public Ed25519 key in base64: its 32 bytes, or SPKI (DER).');
}

const unusable = (name: string, fix: string) => new StartError('delegation tokens cannot be verified', name, fix);
