import { metrics } from './declare';

/** Metrics of the gateway. */
export const gatewayMetrics = metrics({
  httpRequests: {
    name: 'svc_gateway_http_requests_total',
    type: 'counter',
    labels: ['method', 'route', 'status'],
    help: 'HTTP responses, by route template.',
  },
  httpSeconds: {
    name: 'svc_gateway_http_request_duration_seconds',
    type: 'histogram',
    labels: ['method', 'route'],
    help: 'Duration of HTTP requests, by route template.',
  },
  rateLimited: {
    name: 'svc_gateway_rate_limited_total',
    type: 'counter',
    labels: ['scope'],
    labelValues: { scope: ['tenant', 'public'] },
    help: 'Requests rejected by a rate limit, by scope.',
  },
  submitRejected: {
    name: 'svc_gateway_submit_rejected_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Job submissions rejected, by error code.',
  },
  admissionRefused: {
    name: 'svc_gateway_admission_refused_total',
    type: 'counter',
    labels: ['limit'],
    labelValues: { limit: ['tenant_jobs', 'tenant_bytes', 'jobs', 'bytes', 'memory'] },
    help: 'Requests rejected by admission control, by limit.',
  },
});
