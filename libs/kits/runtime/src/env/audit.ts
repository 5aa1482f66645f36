import { variables, type EnvOf, type Rule } from './declare';
import type { Problem } from './problem';

const MIN_KEY_BYTES = 32;

/** Every process that appends to the audit chains: gateway and engine. */
export const auditVariables = variables({
  auditHmacKey: {
    name: 'SVC_AUDIT_HMAC_KEY',
    type: 'string',
    secret: true,
    doc: `Key of the HMAC of each audit event, at least ${MIN_KEY_BYTES} bytes. Equal on gateway and engine. Without it events have no HMAC.`,
  },
  auditSigningKey: {
    name: 'SVC_AUDIT_SIGNING_KEY',
    type: 'string',
    secret: true,
    doc: 'Ed25519 private key that signs checkpoints of the audit chains: PEM, or PKCS #8 or seed in base64 or hex. Equal on gateway and engine. Without it there are no checkpoints, so that a rewritten or cut chain cannot be detected.',
  },
  auditSigningKeyPath: {
    name: 'SVC_AUDIT_SIGNING_KEY_PATH',
    type: 'path',
    doc: 'File of the signing key of the audit chains.',
  },
  auditPublicKeys: {
    name: 'SVC_AUDIT_PUBLIC_KEY_',
    type: 'family',
    doc: 'Earlier public keys of checkpoints, by any id: SPKI in base64. The current one is derived from the signing key.',
  },
  auditAnchorFile: {
    name: 'SVC_AUDIT_ANCHOR_FILE',
    type: 'path',
    doc: 'File to which the engine appends every checkpoint (JSON, one a line), outside of Redis; the gateway verifies chains against it. Keep it where clients of Redis cannot write.',
  },
  auditAnchorIntervalMs: {
    name: 'SVC_AUDIT_ANCHOR_INTERVAL',
    type: 'duration',
    min: '1s',
    default: '60s',
    doc: 'Interval of checkpoints for each tenant with new events.',
  },
  auditReadSampleRate: {
    name: 'SVC_AUDIT_READ_SAMPLE_RATE',
    type: 'number',
    min: 0,
    max: 1,
    default: '0',
    doc: 'Share of the reads of audit events that are recorded as events themselves: 0 = none, 1 = all.',
  },
  auditRetention: {
    name: 'SVC_AUDIT_RETENTION_HOURS',
    type: 'int',
    min: 1,
    doc: 'Hours for which audit events are kept. Default: as the license says.',
  },
  auditChainFail: {
    name: 'SVC_AUDIT_CHAIN_FAIL',
    type: 'enum',
    choices: ['open', 'closed'],
    spellings: { permissive: 'open', strict: 'closed' },
    default: 'open',
    productionDefault: 'closed',
    doc: 'What happens to a request whose audit event cannot be written: closed = 503; open = it succeeds, and the loss is logged and counted. Changes by scripts are written together with their event in both cases.',
  },
});

type AuditEnv = EnvOf<typeof auditVariables>;

/** An HMAC with a short key proves nothing, and with two keys the signing key would be ambiguous. */
export const auditRules: Rule<AuditEnv> = ({ auditHmacKey: key, auditSigningKey, auditSigningKeyPath }): Problem[] => {
  const twice =
    auditSigningKey !== undefined && auditSigningKeyPath !== undefined
      ? [
          {
            name: 'SVC_AUDIT_SIGNING_KEY_PATH',
            given: auditSigningKeyPath,
            expected: 'nothing, because SVC_AUDIT_SIGNING_KEY is set',
            fix: 'Set one of the two.',
          },
        ]
      : [];
  if (key === undefined || Buffer.byteLength(key) >= MIN_KEY_BYTES) return twice;
  return [
    ...twice,
    {
      name: 'SVC_AUDIT_HMAC_KEY',
      given: 'too short',
      expected: `at least ${MIN_KEY_BYTES} bytes`,
      fix: 'Generate one, for example with `openssl rand -hex 32`.',
    },
  ];
};
