import { variables, type EnvOf, type Rule } from './declare';

/** Used by every process that sends dispatches. */
export const grantVariables = variables({
  grantSigningKey: {
    name: 'SVC_GRANT_SIGNING_KEY',
    type: 'string',
    secret: true,
    doc: 'Ed25519 private key that signs a grant for each dispatch to a worker that verifies them: PEM, or PKCS #8 or seed in base64 or hex. Must be equal on gateway, scheduler and engine. Without it dispatches have no grants, and workers that require them refuse all jobs.',
  },
  grantSigningKeyPath: { name: 'SVC_GRANT_SIGNING_KEY_PATH', type: 'path', doc: 'File of the key that signs grants.' },
});

/** With two keys it would be ambiguous which one signs. */
export const grantRules: Rule<EnvOf<typeof grantVariables>> = ({ grantSigningKey, grantSigningKeyPath }) =>
  grantSigningKey !== undefined && grantSigningKeyPath !== undefined
    ? [
        {
          name: 'SVC_GRANT_SIGNING_KEY_PATH',
          given: grantSigningKeyPath,
          expected: 'nothing, because SVC_GRANT_SIGNING_KEY is set',
          fix: 'Set one of the two.',
        },
      ]
    : [];
