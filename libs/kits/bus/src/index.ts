export {
  Bus,
  openBus,
  type BusDeps,
  type BusStatus,
  type ConsumeOptions,
  type Consumption,
  type DurableOptions,
} from './bus';
export { ack, nak, term, type Delivery, type Outcome } from './delivery';
export { PublishError, type PublishFailure, type Stored } from '@svc/jetstream';
export { busOptions, type BusOptions } from './options';
export { isBusRejection } from './rejection';
export type { PacketDelivery } from './packet-handler';
export type { RefusedPacket } from './refusals';
export * from './signatures';
export type { Trace } from './trace';
