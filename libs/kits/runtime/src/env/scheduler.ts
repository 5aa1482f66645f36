import { admissionVariables } from './admission';
import { commonRules, commonVariables } from './common';
import { dataUrlRules, dataUrlVariables } from './data-urls';
import { envSpec, variables, type EnvOf, type Rule } from './declare';
import { grantRules, grantVariables } from './dispatch-grants';
import { kernelClientRules, kernelClientVariables } from './kernel-client';
import { policyRules, policyVariables } from './policy';
import { readinessVariables } from './readiness';
import { resultTicketRules, resultTicketVariables } from './result-tickets';
import { metricsPrivate } from './rules';
import { schemaVariables } from './schemas';
import { storeAccessRules, storeAccessVariables } from './store-access';
import { workerTrustRules, workerTrustVariables } from './worker-trust';

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
    doc: 'Permits a metrics listener that other hosts can reach in production.',
  },
  configReloadIntervalMs: {
    name: 'SCHEDULER_CONFIG_RELOAD_INTERVAL',
    type: 'duration',
    min: '1s',
    default: '30s',
    doc: 'Interval at which config documents and topics are reloaded, in case a change notification was lost.',
  },
  dlqMaxSize: {
    name: 'SCHEDULER_DLQ_MAX_SIZE',
    type: 'int',
    min: 1,
    default: '10000',
    doc: 'Maximum dead letters; the oldest are removed first.',
  },
  workerSnapshotIntervalMs: {
    name: 'WORKER_SNAPSHOT_INTERVAL',
    type: 'duration',
    min: '1s',
    default: '5s',
    doc: 'Interval at which the worker snapshot for the gateway is written.',
  },
  dispatchIdRequired: {
    name: 'SVC_REQUIRE_DISPATCH_ID',
    type: 'bool',
    default: 'false',
    doc: 'Ignores results and progress without a dispatch id from all workers, not only from workers known to send it.',
  },
  handshakeDomainPrefix: {
    name: 'SVC_HANDSHAKE_DOMAIN_PREFIX',
    type: 'string',
    default: 'SVC',
    doc: 'Prefix of the domains under which the packets of the trust handshake are signed.',
  },
  outputPolicyEnabled: {
    name: 'OUTPUT_POLICY_ENABLED',
    type: 'bool',
    default: 'false',
    doc: 'Evaluates output policy on job results.',
  },
  outputPolicyFailMode: {
    name: 'OUTPUT_POLICY_FAIL_MODE',
    type: 'enum',
    choices: ['open', 'closed'],
    default: 'open',
    doc: 'Handling of results whose content cannot be checked: open releases them, closed quarantines them.',
  },
  queueLockMs: {
    name: 'SCHEDULER_QUEUE_LOCK',
    type: 'duration',
    min: '1s',
    default: '60s',
    doc: 'Lease of a queue entry, renewed every third of it; after a scheduler crash the entry is processed again when it expires.',
  },
  queueStalledCheckMs: {
    name: 'SCHEDULER_QUEUE_STALLED_CHECK',
    type: 'duration',
    min: '1s',
    default: '15s',
    doc: 'Interval between checks for queue entries with expired leases.',
  },
  outputMetaTimeoutMs: {
    name: 'SVC_OUTPUT_META_TIMEOUT_MS',
    type: 'int',
    min: 1,
    default: '500',
    doc: 'Timeout, in milliseconds, of the output check that runs before a result is released.',
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
    ...resultTicketVariables,
    ...workerTrustVariables,
    ...storeAccessVariables,
    ...grantVariables,
  },
  // A remote kernel loads and checks the policy itself.
  rules: [
    commonRules,
    schedulerRules,
    dataUrlRules,
    resultTicketRules,
    workerTrustRules,
    storeAccessRules,
    grantRules,
    kernelClientRules,
    (env) => (env.kernelAddr ? [] : policyRules(env)),
  ],
});
export type SchedulerEnv = EnvOf<typeof schedulerEnv.variables>;
