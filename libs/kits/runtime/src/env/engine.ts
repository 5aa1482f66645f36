import { admissionVariables } from './admission';
import { auditRules, auditVariables } from './audit';
import { auditExportRules, auditExportVariables } from './audit-export';
import { commonRules, commonVariables } from './common';
import { dataUrlRules, dataUrlVariables } from './data-urls';
import { envSpec, variables, type EnvOf } from './declare';
import { grantRules, grantVariables } from './dispatch-grants';
import { decisionLogVariables, evalVariables } from './governance';
import { kernelClientRules, kernelClientVariables } from './kernel-client';
import { policyRules, policyVariables } from './policy';
import { readinessVariables } from './readiness';
import { resultTicketRules, resultTicketVariables } from './result-tickets';
import { metricsPrivate } from './rules';
import { schemaVariables } from './schemas';
import { workerTrustRules, workerTrustVariables } from './worker-trust';
import { workflowLimitVariables } from './workflow-limits';

/** The workflow engine's environment. */
export const engineEnv = envSpec({
  service: 'engine',
  variables: {
    ...commonVariables,
    ...kernelClientVariables,
    ...policyVariables,
    ...admissionVariables,
    ...readinessVariables,
    ...schemaVariables,
    ...dataUrlVariables,
    ...resultTicketVariables,
    ...auditVariables,
    ...auditExportVariables,
    ...workerTrustVariables,
    ...grantVariables,
    ...workflowLimitVariables,
    ...evalVariables,
    ...decisionLogVariables,
    ...variables({
      httpAddr: {
        name: 'WORKFLOW_ENGINE_HTTP_ADDR',
        type: 'address',
        default: '127.0.0.1:9093',
        productionDefault: ':9093',
        listens: true,
        doc: 'Metrics and probes.',
      },
      metricsPublic: {
        name: 'WORKFLOW_ENGINE_METRICS_PUBLIC',
        type: 'bool',
        default: 'false',
        doc: 'Permits a metrics and probe listener that other hosts can reach in production.',
      },
      scanIntervalMs: {
        name: 'WORKFLOW_ENGINE_SCAN_INTERVAL',
        type: 'duration',
        min: '100ms',
        default: '5s',
        doc: 'Interval between scans for runs whose next step was missed because a message was lost.',
      },
      runScanLimit: {
        name: 'WORKFLOW_ENGINE_RUN_SCAN_LIMIT',
        type: 'int',
        min: 1,
        default: '200',
        doc: 'Maximum runs per scan.',
      },
      timerPollMs: {
        name: 'WORKFLOW_ENGINE_TIMER_POLL',
        type: 'duration',
        min: '50ms',
        default: '1s',
        doc: 'Interval between checks for timers that are overdue.',
      },
      queueLockMs: {
        name: 'WORKFLOW_ENGINE_QUEUE_LOCK',
        type: 'duration',
        min: '1s',
        default: '10s',
        doc: 'Lease of a run, renewed every third of it; after an engine crash another engine takes the run when it expires.',
      },
      queueStalledCheckMs: {
        name: 'WORKFLOW_ENGINE_QUEUE_STALLED_CHECK',
        type: 'duration',
        min: '500ms',
        default: '5s',
        doc: 'Interval between checks for runs with expired leases.',
      },
      dispatchAtSubmission: {
        name: 'WORKFLOW_ENGINE_DISPATCH_AT_SUBMISSION',
        type: 'bool',
        default: 'true',
        doc: 'Places permitted jobs of steps with the write that accepts them; false sends all of them to the scheduler first.',
      },
    }),
  },
  // A remote kernel loads and checks the policy itself.
  rules: [
    commonRules,
    kernelClientRules,
    dataUrlRules,
    resultTicketRules,
    auditRules,
    auditExportRules,
    workerTrustRules,
    grantRules,
    (env) => (env.kernelAddr ? [] : policyRules(env)),
    (env) =>
      metricsPrivate(
        env.production,
        'WORKFLOW_ENGINE_HTTP_ADDR',
        env.httpAddr,
        'WORKFLOW_ENGINE_METRICS_PUBLIC',
        env.metricsPublic,
      ),
  ],
});
export type EngineEnv = EnvOf<typeof engineEnv.variables>;
