import { variables, type EnvOf, type Rule } from './declare';
import { needed } from './rules';

/** What decides a job, wherever the kernel's code runs: its own process, the scheduler or the gateway. */
export const policyVariables = variables({
  policyPath: { name: 'SAFETY_POLICY_PATH', type: 'path', default: 'config/safety.yaml', doc: 'The base policy.' },
  policyUrl: { name: 'SAFETY_POLICY_URL', type: 'url', doc: 'The base policy by URL; wins over the path.' },
  policyUrlAllowlist: { name: 'SAFETY_POLICY_URL_ALLOWLIST', type: 'list', doc: 'Hosts a policy may be loaded from.' },
  policyUrlAllowPrivate: {
    name: 'SAFETY_POLICY_URL_ALLOW_PRIVATE',
    type: 'bool',
    default: 'false',
    doc: 'Permits a policy host with a private address.',
  },
  policyMaxBytes: {
    name: 'SAFETY_POLICY_MAX_BYTES',
    type: 'int',
    min: 1_024,
    default: '2097152',
    doc: 'Largest policy document.',
  },
  policyReloadIntervalMs: {
    name: 'SAFETY_POLICY_RELOAD_INTERVAL',
    type: 'duration',
    min: '1s',
    default: '30s',
    doc: 'How often the policy is looked at for changes.',
  },
  policySignatureRequired: {
    name: 'SAFETY_POLICY_SIGNATURE_REQUIRED',
    type: 'bool',
    default: 'false',
    productionDefault: 'true',
    doc: 'Refuses a base policy without a good signature.',
  },
  policyPublicKey: {
    name: 'SAFETY_POLICY_PUBLIC_KEY',
    type: 'string',
    doc: 'Ed25519 key of that signature, base64 or hex.',
  },
  policySignature: { name: 'SAFETY_POLICY_SIGNATURE', type: 'string', doc: 'The signature itself, base64 or hex.' },
  policySignaturePath: {
    name: 'SAFETY_POLICY_SIGNATURE_PATH',
    type: 'path',
    doc: 'File of the signature; else `<policy>.sig`.',
  },
  policyConfigDisabled: {
    name: 'SAFETY_POLICY_CONFIG_DISABLE',
    type: 'bool',
    default: 'false',
    doc: 'Leaves out the bundles of the config document.',
  },
  policyConfigScope: {
    name: 'SAFETY_POLICY_CONFIG_SCOPE',
    type: 'string',
    default: 'system',
    doc: 'Scope of the bundles document.',
  },
  policyConfigId: {
    name: 'SAFETY_POLICY_CONFIG_ID',
    type: 'string',
    default: 'policy',
    doc: 'Id of the bundles document.',
  },
  policyConfigKey: {
    name: 'SAFETY_POLICY_CONFIG_KEY',
    type: 'string',
    default: 'bundles',
    doc: 'Key of the bundles in it.',
  },
  policyStrict: {
    name: 'SVC_POLICY_STRICT',
    type: 'enum',
    choices: ['off', 'warn', 'enforce'],
    spellings: { true: 'enforce', '1': 'enforce', false: 'off', '0': 'off' },
    default: 'warn',
    productionDefault: 'enforce',
    doc: 'What happens to bundles without a good signature.',
  },
  policyPublicKeys: {
    name: 'SVC_POLICY_PUBLIC_KEY_<ID>',
    type: 'family',
    doc: 'Ed25519 keys whose bundles are trusted.',
  },
  decisionCacheTtlMs: {
    name: 'SAFETY_DECISION_CACHE_TTL',
    type: 'duration',
    default: '0',
    doc: 'How long a decision is reused; 0 never.',
  },
  decisionCacheMaxSize: {
    name: 'SAFETY_DECISION_CACHE_MAX_SIZE',
    type: 'int',
    min: 1,
    default: '10000',
    doc: 'Decisions kept for reuse.',
  },
  velocityFailMode: {
    name: 'VELOCITY_FAIL_MODE',
    type: 'enum',
    choices: ['closed', 'open'],
    default: 'closed',
    doc: 'When the store of velocity counters fails: ask for approval, or skip the rule.',
  },
  shadowEvalDisabled: {
    name: 'SVC_SHADOW_EVAL_DISABLED',
    type: 'bool',
    default: 'false',
    doc: 'Stops shadow evaluation of policies.',
  },
  outputScannersPath: {
    name: 'OUTPUT_SCANNERS_PATH',
    type: 'path',
    default: 'config/output_scanners.yaml',
    doc: 'Patterns that results are scanned for.',
  },
});

/** A base policy that must be signed needs a key to check it with. */
export const policyRules: Rule<EnvOf<typeof policyVariables>> = (env) => [
  ...needed(
    env.policySignatureRequired,
    'SAFETY_POLICY_PUBLIC_KEY',
    env.policyPublicKey,
    'policies must be signed (SAFETY_POLICY_SIGNATURE_REQUIRED)',
  ),
];
