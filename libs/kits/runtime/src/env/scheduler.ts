import { admissionVariables } from './admission';
import { commonRules, commonVariables } from './common';
import { dataUrlRules, dataUrlVariables } from './data-urls';
import { envSpec, variables, type EnvOf, type Rule } from './declare';
import { kernelClientRules, kernelClientVariables } from './kernel-client';
import { policyRules, policyVariables } from './policy';
import { readinessVariables } from './readiness';
import { metricsPrivate } from './rules';
import { schemaVariables } from './schemas';

const scheduler = variables({
  metricsAddr: {
    name: 'SCHEDULER_METRICS_ADDR',
    type: 'address',
    default: '127.0.0.1:9090',
    productionDefault: ':9090',
    listens: true,
    doc: 'Metrics and probes.',
  },
  metricsPublic: {
    name: 'SCHEDULER_METRICS_PUBLIC',
    type: 'bool',
    default: 'false',
    doc: 'Serves metrics beyond this machine in production.',
  },
  configReloadIntervalMs: {
    name: 'SCHEDULER_CONFIG_RELOAD_INTERVAL',
    type: 'duration',
    min: '1s',
    default: '30s',
    doc: 'How long config documents and topics are used without reading them again, should a change notice be lost.',
  },
  dlqMaxSize: {
    name: 'SCHEDULER_DLQ_MAX_SIZE',
    type: 'int',
    min: 1,
    default: '10000',
    doc: 'Newest dead letters kept.',
  },
  workerSnapshotIntervalMs: {
    name: 'WORKER_SNAPSHOT_INTERVAL',
    type: 'duration',
    min: '1s',
    default: '5s',
    doc: 'How often the list of workers is written for the gateway.',
  },
  workerReadinessTtlMs: {
    name: 'WORKER_READINESS_TTL',
    type: 'duration',
    min: '1s',
    default: '60s',
    doc: 'How long the readiness announcement of a worker is valid.',
  },
  dispatchIdRequired: {
    name: 'SVC_REQUIRE_DISPATCH_ID',
    type: 'bool',
    default: 'false',
    doc: 'Ignores results and progress without a dispatch id from every worker, not only from those known to send it.',
  },
  outputPolicyEnabled: {
    name: 'OUTPUT_POLICY_ENABLED',
    type: 'bool',
    default: 'false',
    doc: 'Checks what jobs return.',
  },
  outputPolicyFailMode: {
    name: 'OUTPUT_POLICY_FAIL_MODE',
    type: 'enum',
    choices: ['open', 'closed'],
    default: 'open',
    doc: 'When the content of a result cannot be checked: release, or quarantine.',
  },
  queueLockMs: {
    name: 'SCHEDULER_QUEUE_LOCK',
    type: 'duration',
    min: '1s',
    default: '60s',
    doc: 'How long a queue entry stays with a scheduler that died; a living one renews it every third.',
  },
  queueStalledCheckMs: {
    name: 'SCHEDULER_QUEUE_STALLED_CHECK',
    type: 'duration',
    min: '1s',
    default: '15s',
    doc: 'How often entries of dead schedulers are looked for.',
  },
  outputMetaTimeoutMs: {
    name: 'SVC_OUTPUT_META_TIMEOUT_MS',
    type: 'int',
    min: 1,
    default: '500',
    doc: 'Milliseconds for the check that runs before a result is released.',
  },
});

const schedulerRules: Rule<EnvOf<typeof scheduler>> = (env) =>
  metricsPrivate(
    env.production,
    'SCHEDULER_METRICS_ADDR',
    env.metricsAddr,
    'SCHEDULER_METRICS_PUBLIC',
    env.metricsPublic,
  );

/** The scheduler's environment. */
export const schedulerEnv = envSpec({
  service: 'scheduler',
  variables: {
    ...commonVariables,
    ...scheduler,
    ...readinessVariables,
    ...kernelClientVariables,
    ...policyVariables,
    ...admissionVariables,
    ...schemaVariables,
    ...dataUrlVariables,
  },
  // A remote kernel loads and checks the policy itself.
  rules: [
    commonRules,
    schedulerRules,
    dataUrlRules,
    kernelClientRules,
    (env) => (env.kernelAddr ? [] : policyRules(env)),
  ],
});
export type SchedulerEnv = EnvOf<typeof schedulerEnv.variables>;
