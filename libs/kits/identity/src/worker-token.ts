import { hash, verify } from '@node-rs/argon2';
import bcrypt from 'bcryptjs';
import { createPublicKey, randomBytes } from 'node:crypto';

const tokenBytes = 32;
const tokenPattern = /^[0-9a-f]{64}$/;
/** Argon2id is the default of the library. */
const cost = { memoryCost: 65_536, timeCost: 3, parallelism: 1, outputLen: 32 };

/** A new worker credential: 32 random bytes as hex. */
export const newWorkerToken = (): string => randomBytes(tokenBytes).toString('hex');

/** Whether a text has the form of a worker credential. Other texts cost no hash. */
export const isWorkerToken = (text: string): boolean => tokenPattern.test(text);

/** The argon2id hash of a worker credential as PHC string. Takes 64 MiB and about 0.1 s of a thread. */
export const hashWorkerToken = (token: string): Promise<string> => hash(token, { ...cost, salt: randomBytes(16) });

/** The lowest cost of bcrypt: a token is 32 random bytes, and nats-server verifies it at each connection and each reload. */
const natsHashRounds = 4;

/** The hash of a worker credential as nats-server verifies it. Takes about 2 ms of the calling thread. */
export const hashForNats = (token: string): string =>
  // Versions 2a and 2b are the same for such tokens; servers before 2.10 know the first only.
  bcrypt.hashSync(token, natsHashRounds).replace(/^\$2b\$/, '$2a$');

/** Compares a worker credential with its PHC string, at the cost of hashing it. @throws Error when that is no PHC string */
export const verifyWorkerToken = (phc: string, token: string): Promise<boolean> => verify(phc, token);

/**
 * Normalizes the public key of a worker. @throws Error when it is no P-256 key
 */
export function toPublicKeyPem(pem: string): string {
  // A private key would be accepted as well, and stored.
  if (!pem.includes('-----BEGIN PUBLIC KEY-----')) throw new Error('not a public key');
  const key = createPublicKey(pem);
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('not a P-256 key');
  return key.export({ type: 'spki', format: 'pem' }).toString();
}
