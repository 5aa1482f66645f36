import Joi from 'joi';
import { endpoint } from '../endpoint';
import { jobId, text } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';

/** Query of a WebSocket upgrade: browsers cannot set headers there. */
export interface StreamQuery {
  tenant_id?: string;
}
const streamQuery = shape<StreamQuery>({
  required: {},
  optional: { tenant_id: text('Tenant, for clients that cannot send X-Tenant-ID.') },
});

export const streamEvents = endpoint({
  id: 'streams.events',
  method: 'get',
  path: '/api/v1/stream',
  summary: 'All events of a tenant (WebSocket)',
  description: 'See docs/reference/streams.md#websocket.',
  access: { permission: 'admin.*', roles: ['admin'] },
  params: {},
  query: streamQuery,
  answer: { status: 101 },
  errors: ['upgrade_required', 'too_many_streams'],
});

export const streamJob = endpoint({
  id: 'streams.job',
  method: 'get',
  path: '/api/v1/jobs/:id/stream',
  summary: 'Events of a job (WebSocket)',
  description: 'See docs/reference/streams.md#websocket.',
  access: { permission: 'jobs.read', roles: 'any' },
  params: { id: jobId },
  query: streamQuery,
  answer: { status: 101 },
  errors: ['upgrade_required', 'too_many_streams', 'job_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

/** Query of a stream of Server-Sent Events. */
export interface EventsQuery {
  follow: boolean;
  last_event_id?: string;
}
const eventsQuery = shape<EventsQuery>({
  required: { follow: Joi.boolean().default(true).description('False: the response ends with the last known event.') },
  optional: {
    last_event_id: text('Position to continue after, for clients that cannot send Last-Event-ID.'),
  },
});

const nothingNew = { 204: { description: 'It has ended, and Last-Event-ID is its last event: do not reconnect.' } };

export const jobEvents = endpoint({
  id: 'jobs.events',
  method: 'get',
  path: '/api/v1/jobs/:id/events',
  summary: 'Events of a job (Server-Sent Events), from the first one or after Last-Event-ID',
  description: 'See docs/reference/streams.md#server-sent-events.',
  access: { permission: 'jobs.read', roles: 'any' },
  params: { id: jobId },
  query: eventsQuery,
  answer: { status: 200, events: true },
  otherAnswers: nothingNew,
  errors: ['job_not_found', 'tenant_access_denied', 'too_many_streams'],
  otherTenant: 'tenant_access_denied',
});

export const runEvents = endpoint({
  id: 'runs.events',
  method: 'get',
  path: '/api/v1/workflow-runs/:id/events',
  summary: 'Events of a run (Server-Sent Events), from the first one or after Last-Event-ID',
  description: 'See docs/reference/streams.md#server-sent-events.',
  access: { permission: 'workflows.read', roles: 'any' },
  params: { id: Joi.string().max(limits.idChars).description('Run id.') },
  query: eventsQuery,
  answer: { status: 200, events: true },
  otherAnswers: nothingNew,
  errors: ['run_not_found', 'tenant_access_denied', 'too_many_streams'],
  otherTenant: 'tenant_access_denied',
});

/** Query of a Socket.IO connection; the others are set by its clients. */
export interface SocketIoQuery extends StreamQuery {
  EIO?: string;
  transport?: string;
  t?: string;
}

export const streamSocketIo = endpoint({
  id: 'streams.socketIo',
  method: 'get',
  path: '/api/v1/socketio',
  summary: 'Events of a tenant, of jobs and of runs (Socket.IO, WebSocket transport)',
  description: 'See docs/reference/streams.md#socketio.',
  access: { roles: 'any' },
  params: {},
  query: shape<SocketIoQuery>({
    required: {},
    optional: {
      tenant_id: text('Tenant, for clients that cannot send X-Tenant-ID.'),
      EIO: text('Version of the protocol.'),
      transport: text('`websocket`.'),
      t: text('Set by clients against caches.'),
    },
  }),
  answer: { status: 101 },
  errors: ['upgrade_required', 'too_many_streams'],
});

export const streamEndpoints = [streamEvents, streamJob, streamSocketIo, jobEvents, runEvents] as const;
