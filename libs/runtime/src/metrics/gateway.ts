import { metrics } from './declare';

/** Operations contract 2.3, and the stream metrics of the seed ("Stream behavior" 7). */
export const gatewayMetrics = metrics({
  httpRequests: {
    name: 'svc_gateway_http_requests_total',
    type: 'counter',
    labels: ['method', 'route', 'status'],
    help: 'HTTP answers by route template.',
  },
  httpSeconds: {
    name: 'svc_gateway_http_request_duration_seconds',
    type: 'histogram',
    labels: ['method', 'route'],
    help: 'Time of an HTTP answer by route template.',
  },
  rateLimited: {
    name: 'svc_gateway_rate_limited_total',
    type: 'counter',
    labels: ['scope'],
    labelValues: { scope: ['tenant', 'public'] },
    help: 'Requests refused for their rate.',
  },
  submitRejected: {
    name: 'svc_gateway_submit_rejected_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Submissions refused, by error code.',
  },
  admissionRefused: {
    name: 'svc_gateway_admission_refused_total',
    type: 'counter',
    labels: ['limit'],
    labelValues: { limit: ['tenant_jobs', 'tenant_bytes', 'jobs', 'bytes', 'memory'] },
    help: 'Work refused for want of room, by the limit it met.',
  },
  wsClients: { name: 'svc_gateway_ws_clients_active', type: 'gauge', help: 'Open streams.' },
  wsConnectionSeconds: {
    name: 'svc_gateway_ws_connection_duration_seconds',
    type: 'histogram',
    buckets: [1, 10, 60, 300, 1_800, 3_600, 6 * 3_600, 86_400],
    help: 'How long streams stayed open.',
  },
  wsPings: { name: 'svc_gateway_ws_pings_sent_total', type: 'counter', help: 'Pings sent to streams.' },
  wsPongs: { name: 'svc_gateway_ws_pongs_received_total', type: 'counter', help: 'Pongs from streams.' },
  wsPongTimeouts: {
    name: 'svc_gateway_ws_pong_timeouts_total',
    type: 'counter',
    help: 'Streams closed for want of a pong.',
  },
  wsPacketsDropped: {
    name: 'svc_gateway_ws_packets_dropped_total',
    type: 'counter',
    help: 'Packets a stream could not take.',
  },
  wsEventsDropped: {
    name: 'svc_gateway_ws_events_dropped_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Events that no stream was given.',
  },
  wsSlowClientEvictions: {
    name: 'svc_gateway_ws_slow_client_evictions_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Streams closed because they fell behind.',
  },
  wsRevalidations: {
    name: 'svc_gateway_ws_revalidation_total',
    type: 'counter',
    labels: ['outcome'],
    labelValues: { outcome: ['ok', 'revoked', 'error'] },
    help: 'Credentials of open streams checked again.',
  },
  wsReconnections: {
    name: 'svc_gateway_ws_reconnections_total',
    type: 'counter',
    help: 'Streams opened again by the same caller.',
  },
});
