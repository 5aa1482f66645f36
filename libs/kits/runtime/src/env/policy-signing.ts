import { variables, type EnvOf, type Rule } from './declare';

/** What the gateway signs policy bundles with. See docs/reference/policy.md#bundles. */
export const policySigningVariables = variables({
  policySigningKey: {
    name: 'SVC_POLICY_SIGNING_KEY',
    type: 'string',
    secret: true,
    doc: 'Ed25519 key that bundles are signed with when they are written: PEM, or PKCS #8 or seed in base64 or hex.',
  },
  policySigningKeyPath: {
    name: 'SVC_POLICY_SIGNING_KEY_PATH',
    type: 'path',
    doc: 'File of that key.',
  },
  policySigningKeyId: {
    name: 'SVC_POLICY_SIGNING_KEY_ID',
    type: 'string',
    default: 'default',
    doc: 'Its id, by which kernels know it: SVC_POLICY_PUBLIC_KEY_<ID>.',
  },
});

/** Of two keys nobody could say which one signs. */
export const policySigningRules: Rule<EnvOf<typeof policySigningVariables>> = (env) =>
  env.policySigningKey !== undefined && env.policySigningKeyPath !== undefined
    ? [
        {
          name: 'SVC_POLICY_SIGNING_KEY_PATH',
          given: env.policySigningKeyPath,
          expected: 'nothing, because SVC_POLICY_SIGNING_KEY is set',
          mend: 'Set one of the two.',
        },
      ]
    : [];
