import { duplicateWindowMs, streams, type ConsumerSpec } from '@svc/contract';
import {
  AckPolicy,
  DeliverPolicy,
  NatsError,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type StreamConfig,
} from 'nats';
import type { BusOptions } from './options';

const nanos = (ms: number) => ms * 1e6;
const streamNameInUse = 10_058;

/** Makes the two streams, or brings their settings up to date. Safe to repeat, and in several processes at once. */
export async function ensureStreams(manager: JetStreamManager, { maxAgeMs, replicas }: BusOptions): Promise<void> {
  for (const { name, subjects } of Object.values(streams)) {
    const settings: Partial<StreamConfig> & { name: string } = {
      name,
      subjects: [...subjects],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      max_age: nanos(maxAgeMs),
      num_replicas: replicas,
      duplicate_window: nanos(duplicateWindowMs),
    };
    try {
      await manager.streams.add(settings);
    } catch (error) {
      if (!(error instanceof NatsError) || error.api_error?.err_code !== streamNameInUse) throw error;
      await manager.streams.update(name, settings);
    }
  }
}

/** How many messages the streams hold together. */
export async function storedMessages(manager: JetStreamManager): Promise<number> {
  const states = await Promise.all(Object.values(streams).map(({ name }) => manager.streams.info(name)));
  return states.reduce((sum, { state }) => sum + state.messages, 0);
}

/** What a consumer of ours may ask to be different. */
export interface ConsumerSettings {
  ackWaitMs: number;
  maxAckPending: number;
}

/**
 * Makes a durable pull consumer, or brings it up to date. The server delivers without limit: the limit of 100 is ours, so
 * that a message whose dead-letter record could not be written comes again.
 */
export async function ensureConsumer(
  manager: JetStreamManager,
  { stream, durable, subject }: ConsumerSpec,
  { ackWaitMs, maxAckPending }: ConsumerSettings,
): Promise<void> {
  await manager.consumers.add(stream, {
    durable_name: durable,
    filter_subject: subject,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(ackWaitMs),
    max_ack_pending: maxAckPending,
    max_deliver: -1,
  });
}
