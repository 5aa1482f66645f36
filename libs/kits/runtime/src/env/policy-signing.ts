import { variables, type EnvOf, type Rule } from './declare';

/** Key that the gateway signs policy bundles with. See docs/reference/policy.md#bundles. */
export const policySigningVariables = variables({
  policySigningKey: {
    name: 'SVC_POLICY_SIGNING_KEY',
    type: 'string',
    secret: true,
    doc: 'Ed25519 private key that signs bundles when they are written: PEM, or PKCS #8 or seed in base64 or hex.',
  },
  policySigningKeyPath: {
    name: 'SVC_POLICY_SIGNING_KEY_PATH',
    type: 'path',
    doc: 'File of the signing key.',
  },
  policySigningKeyId: {
    name: 'SVC_POLICY_SIGNING_KEY_ID',
    type: 'string',
    default: 'default',
    doc: 'Id of the signing key; kernels look up its public key in SVC_POLICY_PUBLIC_KEY_<ID>.',
  },
});

/** With two keys set, the signing key would be ambiguous. */
export const policySigningRules: Rule<EnvOf<typeof policySigningVariables>> = (env) =>
  env.policySigningKey !== undefined && env.policySigningKeyPath !== undefined
    ? [
        {
          name: 'SVC_POLICY_SIGNING_KEY_PATH',
          given: env.policySigningKeyPath,
          expected: 'nothing, because SVC_POLICY_SIGNING_KEY is set',
          fix: 'Set one of the two.',
        },
      ]
    : [];
