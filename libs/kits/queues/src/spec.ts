import type Joi from 'joi';

/** One BullMQ queue, declared in queues.config.ts. Workers, Bull Board, metrics and docs are made from it. */
export interface QueueSpec<Payload = never> {
  name: string;
  /** Title in Bull Board. */
  title: string;
  purpose: string;
  producers: readonly string[];
  /** The app that runs its processor; null = without a processor. */
  consumer: string | null;
  payload: Joi.ObjectSchema<Payload>;
  concurrency: number;
  attempts: number;
  backoffMs: number;
  /** Retention of finished entries; 0 = removed immediately, so that the same id can be added again. */
  keep: { completedSec: number; failedSec: number };
}

// A list holds queues of every payload type; nothing is read through the `any`.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyQueueSpec = QueueSpec<any>;

export const defineQueues = <const Specs extends Record<string, AnyQueueSpec>>(specs: Specs): Specs => specs;

/** The first shard, and the only one of an installation that does not configure others. See docs/adr/0021-shards.md. */
export const defaultShard = 's0';

/**
 * Hash tag of the keys of a shard, and prefix of its BullMQ keys. Records and queues share it, so that one script may move a
 * record and its queue entry together.
 *
 * @throws Error for a name that is not lowercase letters and digits, since names of keys and Lua code contain it
 */
export function shardTag(shard: string): string {
  if (!/^[a-z0-9]{1,16}$/.test(shard)) throw new Error(`not the name of a shard: ${shard}`);
  return `{${shard}}`;
}

/** Options of all entries of a queue. */
export const entryOptions = (spec: AnyQueueSpec) => ({
  attempts: spec.attempts,
  // Fixed, so that a failed entry is retried soon after recovery, for example of Redis.
  backoff: { type: 'fixed', delay: spec.backoffMs },
  removeOnComplete: spec.keep.completedSec === 0 ? true : { age: spec.keep.completedSec },
  removeOnFail: { age: spec.keep.failedSec },
});

/** The queue table for Lua: `bull.<key>.prefix` and `.opts`. */
export const luaQueues = (specs: Readonly<Record<string, AnyQueueSpec>>, shard: string): string => {
  const rows = Object.entries(specs).map(
    ([key, spec]) =>
      `  ${key} = { prefix = '${shardTag(shard)}:${spec.name}:', opts = '${JSON.stringify(entryOptions(spec))}' },`,
  );
  return `local bull = {\n${rows.join('\n')}\n}\n`;
};
