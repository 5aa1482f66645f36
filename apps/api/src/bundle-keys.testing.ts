import { generateKeyPairSync } from 'node:crypto';

const pair = generateKeyPairSync('ed25519');

/** Key with which test gateways sign policy bundles; trusted by their kernels. */
export const bundleKeys = {
  id: 'tests',
  privateKey: pair.privateKey,
  publicKey: pair.publicKey,
  env: {
    SVC_POLICY_SIGNING_KEY: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    SVC_POLICY_SIGNING_KEY_ID: 'tests',
    SVC_POLICY_PUBLIC_KEY_TESTS: pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  },
} as const;
