import type { Redis } from 'ioredis';
import { defaultShard, shardTag, type AnyQueueSpec } from './spec';

export interface QueueCount {
  queue: string;
  state: 'waiting' | 'prioritized' | 'delayed' | 'active' | 'failed';
  count: number;
}

const parts = [
  ['waiting', 'wait', 'llen'],
  ['prioritized', 'prioritized', 'zcard'],
  ['delayed', 'delayed', 'zcard'],
  ['active', 'active', 'llen'],
  ['failed', 'failed', 'zcard'],
] as const;

/** Entries per queue and state, in one round trip. */
export async function countEntries(
  redis: Redis,
  queues: Readonly<Record<string, AnyQueueSpec>>,
  shard = defaultShard,
): Promise<QueueCount[]> {
  const wanted = Object.values(queues).flatMap(({ name }) =>
    parts.map(([state, part, command]) => ({ name, state, part, command })),
  );
  const pipeline = redis.pipeline();
  for (const { name, part, command } of wanted) pipeline[command](`${shardTag(shard)}:${name}:${part}`);
  const replies = (await pipeline.exec()) ?? [];
  return wanted.map(({ name, state }, i) => {
    const [error, count] = replies[i] ?? [];
    if (error) throw error;
    return { queue: name, state, count: Number(count ?? 0) };
  });
}
