import { commonRules, commonVariables } from './common';
import { envSpec, variables, type EnvOf } from './declare';
import { metricsPrivate } from './rules';

/** The workflow engine's environment (operations contract 1.6). */
export const engineEnv = envSpec({
  service: 'engine',
  variables: {
    ...commonVariables,
    ...variables({
      httpAddr: { name: 'WORKFLOW_ENGINE_HTTP_ADDR', type: 'address', default: ':9093', doc: 'Metrics and probes.' },
      metricsPublic: {
        name: 'WORKFLOW_ENGINE_METRICS_PUBLIC',
        type: 'bool',
        default: 'false',
        doc: 'Serves metrics and probes beyond this machine in production.',
      },
      scanIntervalMs: {
        name: 'WORKFLOW_ENGINE_SCAN_INTERVAL',
        type: 'duration',
        min: '100ms',
        default: '5s',
        doc: 'How often runs are looked at for work that a lost message left behind.',
      },
      runScanLimit: {
        name: 'WORKFLOW_ENGINE_RUN_SCAN_LIMIT',
        type: 'int',
        min: 1,
        default: '200',
        doc: 'Runs looked at in one scan.',
      },
      foreachMaxItems: {
        name: 'WORKFLOW_FOREACH_MAX_ITEMS',
        type: 'int',
        min: 1,
        default: '1000',
        doc: 'Largest fan-out of a step.',
      },
      exprMaxLength: {
        name: 'WORKFLOW_EXPR_MAX_LENGTH',
        type: 'int',
        min: 1,
        default: '4096',
        doc: 'Characters of an expression.',
      },
      exprTimeoutMs: {
        name: 'WORKFLOW_EXPR_TIMEOUT_MS',
        type: 'int',
        min: 1,
        default: '100',
        doc: 'Milliseconds for an expression.',
      },
      exprMaxResultItems: {
        name: 'WORKFLOW_EXPR_MAX_RESULT_ITEMS',
        type: 'int',
        min: 1,
        default: '10000',
        doc: 'Items an expression may yield.',
      },
    }),
  },
  rules: [
    commonRules,
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
