import { duplicateWindowMs, streams, workerConsumer, type ConsumerSpec } from '@svc/contract';
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

/** Creates or updates the two streams. Safe to repeat, also concurrently in several processes. */
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

/** Number of messages in all streams. */
export async function storedMessages(manager: JetStreamManager): Promise<number> {
  const states = await Promise.all(Object.values(streams).map(({ name }) => manager.streams.info(name)));
  return states.reduce((sum, { state }) => sum + state.messages, 0);
}

const caughtUpPollMs = 50;

/** Whether a consumer acknowledges all messages currently in its stream within the timeout. */
export async function isCaughtUp(
  manager: JetStreamManager,
  { stream, durable }: ConsumerSpec,
  withinMs: number,
): Promise<boolean> {
  const { state } = await manager.streams.info(stream);
  const giveUpAtMs = performance.now() + withinMs;
  for (;;) {
    const {
      num_pending: undelivered,
      num_ack_pending: unacknowledged,
      ack_floor,
    } = await manager.consumers.info(stream, durable);
    if (undelivered + unacknowledged === 0 || ack_floor.stream_seq >= state.last_seq) return true;
    if (performance.now() >= giveUpAtMs) return false;
    await new Promise((resume) => setTimeout(resume, caughtUpPollMs));
  }
}

/** Deletes one message; no-op when it is gone. */
export async function deleteMessage(manager: JetStreamManager, stream: string, seq: number): Promise<void> {
  try {
    await manager.streams.deleteMessage(stream, seq, false);
  } catch (error) {
    // Error code 10057 is generic; only the description distinguishes a missing message.
    if (!(error instanceof NatsError) || error.api_error?.description !== 'no message found') throw error;
  }
}

/** Consumer settings that can be overridden. */
export interface ConsumerSettings {
  ackWaitMs: number;
  maxAckPending: number;
}

/**
 * Creates or updates a durable pull consumer. The server has no delivery limit; our own limit of 100 allows redelivery of a
 * message whose dead letter could not be written.
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

const consumerNotFound = 10_014;
/** That of the worker SDKs, which renew a message every third of it. */
const workerAckWaitMs = 60_000;

/**
 * Creates the consumers of these workers that are missing. Like those that workers without a credential create themselves,
 * they start with new messages: earlier ones were sent to another holder of the id.
 */
export async function ensureWorkerConsumers(manager: JetStreamManager, workerIds: readonly string[]): Promise<void> {
  if (workerIds.length === 0) return;
  const { name } = streams.jobs;
  const existing = new Set<string>();
  for await (const info of manager.consumers.list(name)) existing.add(info.name);
  for (const { stream, durable, subject } of workerIds.map((id) => workerConsumer(id))) {
    if (existing.has(durable)) continue;
    await manager.consumers.add(stream, {
      durable_name: durable,
      filter_subject: subject,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.New,
      ack_wait: nanos(workerAckWaitMs),
      max_deliver: -1,
    });
  }
}

/** Deletes the consumers of these workers; those that are missing are ignored. */
export async function deleteWorkerConsumers(manager: JetStreamManager, workerIds: readonly string[]): Promise<void> {
  for (const { stream, durable } of workerIds.map((id) => workerConsumer(id))) {
    try {
      await manager.consumers.delete(stream, durable);
    } catch (error) {
      if (!(error instanceof NatsError) || error.api_error?.err_code !== consumerNotFound) throw error;
    }
  }
}
