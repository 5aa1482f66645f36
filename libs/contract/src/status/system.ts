import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, text } from '../fields';
import { licenseSummary, type LicenseSummary } from '../license/license';
import { shape } from '../shape';

/** See docs/reference/http.md#probes-and-status. */
export interface StatusView {
  time: string;
  uptime_seconds: number;
  goroutine_count: number;
  active_ws_clients: number;
  nats_status: string;
  redis_pool_stats: Record<string, unknown>;
  build: Record<string, unknown>;
  nats: Record<string, unknown>;
  redis: Record<string, unknown>;
  workers: { count: number };
  pipeline: Record<string, unknown>;
  license: LicenseSummary;
  policy?: Record<string, unknown>;
  instance_id?: string;
  rate_limiter?: Record<string, unknown>;
  circuit_breakers?: Record<string, unknown>;
  input_fail_open_total?: number;
  environment?: Record<string, unknown>;
  ha_env?: Record<string, unknown>;
  snapshot_meta?: Record<string, unknown>;
  replicas?: Record<string, unknown>;
}

export const getStatus = endpoint({
  id: 'status.get',
  method: 'get',
  path: '/api/v1/status',
  summary: 'State of the installation',
  access: { roles: 'any' },
  params: {},
  answer: {
    status: 200,
    body: shape<StatusView>({
      required: {
        time: Joi.string().isoDate(),
        uptime_seconds: Joi.number().min(0),
        goroutine_count: Joi.number().min(0).description('Number of open handles.'),
        active_ws_clients: Joi.number().min(0).description('Open streams of this gateway.'),
        nats_status: text('CONNECTED or DISCONNECTED.'),
        redis_pool_stats: anyObject('Connection statistics.'),
        build: anyObject('version, commit, date'),
        nats: anyObject('connected, status'),
        redis: anyObject('ok, status; for operators also error and findings.'),
        workers: Joi.object({ count: Joi.number().min(0) }),
        pipeline: anyObject('The tenant’s 500 newest jobs by state.'),
        license: licenseSummary,
      },
      optional: {
        policy: anyObject(
          'For admins: whether the newest policy and scanners are in effect. For operators: their problems.',
        ),
        instance_id: text('For operators: admins of the default tenant or of all tenants.'),
        rate_limiter: anyObject('For admins.'),
        circuit_breakers: anyObject('For admins.'),
        input_fail_open_total: Joi.number().min(0),
        environment: anyObject('Rules in effect, production or development, and findings. For operators.'),
        ha_env: anyObject('For operators.'),
        snapshot_meta: anyObject('For operators.'),
        replicas: anyObject('Running processes by service. For operators.'),
      },
    }),
    headers: { 'X-Cache': 'HIT when the response is cached (up to 2 s old), else MISS.' },
  },
  errors: [],
});

const probe = (id: string, path: `/${string}`, summary: string, more: { knowsCallers?: true } = {}) =>
  endpoint({
    id,
    method: 'get',
    path,
    summary,
    access: 'public',
    params: {},
    answer: { status: 200, body: anyObject('status and checks') },
    otherAnswers: {
      503: { description: 'Unhealthy; the body lists the failed checks.', body: anyObject('status and checks') },
    },
    unlimited: true,
    ...more,
    errors: [],
  });

export const health = probe('health.health', '/health', 'Health with the state of bus and store; 503 when unhealthy');
export const apiHealth = probe(
  'health.api',
  '/api/v1/health',
  'Health under the API prefix; for admins with the state, time and cause of each dependency',
  { knowsCallers: true },
);
export const healthz = probe('health.healthz', '/healthz', 'Liveness: checks the process only');
export const readyz = probe('health.readyz', '/readyz', 'Readiness: 503 until every dependency is available');
export const livez = probe('health.livez', '/livez', '503 while the process is starting');

export const systemEndpoints = [getStatus, health, apiHealth, healthz, readyz, livez] as const;
