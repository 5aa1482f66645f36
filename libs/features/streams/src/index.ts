/** Events of jobs, runs and workers for stream clients: who may see which, and how they are resumed. */
export type { AlertTrust } from './admit-alert';
export { classAccess, readableClasses } from './event-classes';
export { StreamHub, type Subscriber } from './hub';
export { openHub, type OpenHub } from './open-hub';
export type { EventDeps } from './open-events';
export { Frame, type EventClass, type StreamEvent } from './stream-event';
export { StreamLimits, type StreamCaps } from './stream-limits';
export { streamRoutes, type StreamContext } from './routes';
