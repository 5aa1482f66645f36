import { NatsError } from 'nats';

const serviceUnavailable = 503;

/** Whether JetStream understood a request and rejected it for good, for example more replicas than there are servers. */
export const isBusRejection = (error: unknown): boolean =>
  error instanceof NatsError && error.api_error !== undefined && error.api_error.code !== serviceUnavailable;
