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
  wsClients: {
    name: 'svc_gateway_ws_clients_active',
    type: 'gauge',
    help: 'Open WebSocket connections, Socket.IO included.',
  },
  wsSeconds: {
    name: 'svc_gateway_ws_connection_duration_seconds',
    type: 'histogram',
    buckets: [1, 10, 60, 300, 1_800, 7_200, 28_800],
    help: 'Duration of closed WebSocket connections.',
  },
  wsPings: { name: 'svc_gateway_ws_pings_sent_total', type: 'counter', help: 'Pings sent to WebSocket clients.' },
  wsPongs: {
    name: 'svc_gateway_ws_pongs_received_total',
    type: 'counter',
    help: 'Pongs received from WebSocket clients.',
  },
  wsPongTimeouts: {
    name: 'svc_gateway_ws_pong_timeouts_total',
    type: 'counter',
    help: 'WebSocket connections closed because no pong arrived in time.',
  },
  wsPacketsDropped: {
    name: 'svc_gateway_ws_packets_dropped_total',
    type: 'counter',
    help: 'Events that were not sent to a client, because it was disconnected as a slow client.',
  },
  wsEvictions: {
    name: 'svc_gateway_ws_slow_client_evictions_total',
    type: 'counter',
    labels: ['reason'],
    labelValues: { reason: ['buffer_full', 'write_timeout'] },
    help: 'WebSocket clients disconnected because they read too slowly.',
  },
  wsRevalidations: {
    name: 'svc_gateway_ws_revalidation_total',
    type: 'counter',
    labels: ['outcome'],
    labelValues: { outcome: ['ok', 'revoked', 'error'] },
    help: 'Checks of the credentials of open WebSocket connections.',
  },
  wsReconnections: {
    name: 'svc_gateway_ws_reconnections_total',
    type: 'counter',
    help: 'WebSocket connections of a credential and address that closed one within the last minute.',
  },
  wsEventsDropped: {
    name: 'svc_gateway_ws_events_dropped_total',
    type: 'counter',
    labels: ['reason'],
    labelValues: { reason: ['broadcast_full'] },
    help: 'Events that were sent to no stream client.',
  },
  wsResultsHidden: {
    name: 'svc_gateway_ws_quarantine_redaction_drops_total',
    type: 'counter',
    help: 'Events from which the pointer of a withheld result was left out.',
  },
  admissionRefused: {
    name: 'svc_gateway_admission_refused_total',
    type: 'counter',
    labels: ['limit'],
    labelValues: { limit: ['tenant_jobs', 'tenant_bytes', 'jobs', 'bytes', 'memory'] },
    help: 'Requests rejected by admission control, by limit.',
  },
});
