import { variables, type EnvOf, type Rule } from './declare';
import { needed } from './rules';

/** Variables of policy evaluation, in the kernel or within the scheduler and the gateway. */
export const policyVariables = variables({
  policyPath: {
    name: 'SAFETY_POLICY_PATH',
    type: 'path',
    default: 'config/safety.yaml',
    doc: 'File of the base policy.',
  },
  policyUrl: {
    name: 'SAFETY_POLICY_URL',
    type: 'url',
    doc: 'URL of the base policy; takes precedence over SAFETY_POLICY_PATH.',
  },
  policyUrlAllowlist: {
    name: 'SAFETY_POLICY_URL_ALLOWLIST',
    type: 'list',
    doc: 'Hosts that a policy may be loaded from.',
  },
  policyUrlAllowPrivate: {
    name: 'SAFETY_POLICY_URL_ALLOW_PRIVATE',
    type: 'bool',
    default: 'false',
    doc: 'Permits policy hosts with private addresses.',
  },
  policyMaxBytes: {
    name: 'SAFETY_POLICY_MAX_BYTES',
    type: 'int',
    min: 1_024,
    default: '2097152',
    doc: 'Maximum bytes of a policy document.',
  },
  policyReloadIntervalMs: {
    name: 'SAFETY_POLICY_RELOAD_INTERVAL',
    type: 'duration',
    min: '1s',
    default: '30s',
    doc: 'Interval between checks for policy changes.',
  },
  policySignatureRequired: {
    name: 'SAFETY_POLICY_SIGNATURE_REQUIRED',
    type: 'bool',
    default: 'false',
    productionDefault: 'true',
    doc: 'Rejects a base policy without a valid signature.',
  },
  policyPublicKey: {
    name: 'SAFETY_POLICY_PUBLIC_KEY',
    type: 'string',
    doc: 'Ed25519 public key that verifies the base policy, in base64 or hex.',
  },
  policySignature: {
    name: 'SAFETY_POLICY_SIGNATURE',
    type: 'string',
    doc: 'Signature of the base policy, in base64 or hex.',
  },
  policySignaturePath: {
    name: 'SAFETY_POLICY_SIGNATURE_PATH',
    type: 'path',
    doc: 'File of the signature; defaults to `<policy>.sig`.',
  },
  policyConfigDisabled: {
    name: 'SAFETY_POLICY_CONFIG_DISABLE',
    type: 'bool',
    default: 'false',
    doc: 'Ignores the bundles in the config document.',
  },
  policyConfigScope: {
    name: 'SAFETY_POLICY_CONFIG_SCOPE',
    type: 'string',
    default: 'system',
    doc: 'Scope of the config document that holds the bundles.',
  },
  policyConfigId: {
    name: 'SAFETY_POLICY_CONFIG_ID',
    type: 'string',
    default: 'policy',
    doc: 'Id of the config document that holds the bundles.',
  },
  policyConfigKey: {
    name: 'SAFETY_POLICY_CONFIG_KEY',
    type: 'string',
    default: 'bundles',
    doc: 'Key of the bundles in that document.',
  },
  policyStrict: {
    name: 'SVC_POLICY_STRICT',
    type: 'enum',
    choices: ['off', 'warn', 'enforce'],
    spellings: { true: 'enforce', '1': 'enforce', false: 'off', '0': 'off' },
    default: 'warn',
    productionDefault: 'enforce',
    doc: 'Handling of bundles without a valid signature: load them, load them with a warning, or reject them.',
  },
  policyPublicKeys: {
    name: 'SVC_POLICY_PUBLIC_KEY_<ID>',
    type: 'family',
    doc: 'Ed25519 public keys that bundles may be signed with.',
  },
  decisionCacheTtlMs: {
    name: 'SAFETY_DECISION_CACHE_TTL',
    type: 'duration',
    default: '0',
    doc: 'Time a decision is cached; 0 disables the cache.',
  },
  decisionCacheMaxSize: {
    name: 'SAFETY_DECISION_CACHE_MAX_SIZE',
    type: 'int',
    min: 1,
    default: '10000',
    doc: 'Maximum cached decisions.',
  },
  velocityFailMode: {
    name: 'VELOCITY_FAIL_MODE',
    type: 'enum',
    choices: ['closed', 'open'],
    default: 'closed',
    doc: 'Handling of velocity rules while their counters are unavailable: closed requires approval, open skips the rule.',
  },
  shadowEvalDisabled: {
    name: 'SVC_SHADOW_EVAL_DISABLED',
    type: 'bool',
    default: 'false',
    doc: 'Disables shadow evaluation of policies.',
  },
  outputScannersPath: {
    name: 'OUTPUT_SCANNERS_PATH',
    type: 'path',
    default: 'config/output_scanners.yaml',
    doc: 'File of the patterns that results are scanned for.',
  },
});

/** A base policy that must be signed requires a key to verify it with. */
export const policyRules: Rule<EnvOf<typeof policyVariables>> = (env) => [
  ...needed(
    env.policySignatureRequired,
    'SAFETY_POLICY_PUBLIC_KEY',
    env.policyPublicKey,
    'policies must be signed (SAFETY_POLICY_SIGNATURE_REQUIRED)',
  ),
];
