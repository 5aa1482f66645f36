import { NatsError } from 'nats';

const serviceUnavailable = 503;

/** Whether JetStream rejected a request permanently, for example for more replicas than servers. */
export const isBusRejection = (error: unknown): boolean =>
  error instanceof NatsError && error.api_error !== undefined && error.api_error.code !== serviceUnavailable;
