import { variables } from './declare';

/** Streams of events: WebSocket, Socket.IO and Server-Sent Events. */
export const streamVariables = variables({
  wsPingIntervalMs: {
    name: 'GATEWAY_WS_PING_INTERVAL',
    type: 'duration',
    min: '10ms',
    default: '30s',
    doc: 'Interval of pings on WebSocket connections.',
  },
  wsPongTimeoutMs: {
    name: 'GATEWAY_WS_PONG_TIMEOUT',
    type: 'duration',
    min: '10ms',
    default: '10s',
    doc: 'Time after a ping within which the client must answer; otherwise the connection is closed.',
  },
  wsWriteTimeoutMs: {
    name: 'GATEWAY_WS_WRITE_TIMEOUT',
    type: 'duration',
    min: '10ms',
    default: '5s',
    doc: 'Time after which a WebSocket client with unsent events is disconnected.',
  },
  wsRevalidationMs: {
    name: 'GATEWAY_WS_REVALIDATION_INTERVAL',
    type: 'duration',
    min: '10ms',
    default: '120s',
    doc: 'Interval at which the credential of an open stream is checked again.',
  },
  wsClientBuffer: {
    name: 'SVC_WS_CLIENT_BUFFER_SIZE',
    type: 'int',
    min: 60,
    default: '100',
    doc: 'Unsent events of a WebSocket client above which it is disconnected as a slow client.',
  },
  streamsPerTenant: {
    name: 'GATEWAY_STREAMS_MAX_PER_TENANT',
    type: 'int',
    min: 1,
    default: '500',
    doc: 'Maximum open event streams per tenant and replica.',
  },
  streamsPerAddress: {
    name: 'GATEWAY_STREAMS_MAX_PER_ADDRESS',
    type: 'int',
    min: 1,
    default: '256',
    doc: 'Maximum open event streams per client address and replica.',
  },
});
