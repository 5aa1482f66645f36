import type { Redis } from 'ioredis';

/** Configuration of a Redis. Unavailable fields are absent. */
export interface RedisFacts {
  version?: string;
  appendOnly?: boolean;
  /** `appendfsync`: always, everysec or no. */
  fsync?: string;
  /** `no-appendfsync-on-rewrite`: nothing is synced while the file is rewritten. */
  unsyncedRewrite?: boolean;
  evictionPolicy?: string;
  /** 0 = without limit. */
  maxMemoryBytes?: number;
  minReplicasToWrite?: number;
}

/** Memory use that counts toward `maxmemory`. */
export interface RedisMemory {
  usedBytes: number;
  /** 0 = without limit. */
  maxBytes: number;
}

const settingNames = [
  'appendonly',
  'appendfsync',
  'no-appendfsync-on-rewrite',
  'maxmemory',
  'maxmemory-policy',
  'min-replicas-to-write',
] as const;

/**
 * Reads the configuration from CONFIG if permitted, otherwise from INFO, as with most providers.
 *
 * @throws client errors when Redis is unreachable or times out
 */
export async function readRedisFacts(redis: Redis): Promise<RedisFacts> {
  const info = parseInfo(await redis.info());
  const pipeline = redis.pipeline();
  // One name per command: multiple names need Redis 7.
  for (const name of settingNames) pipeline.call('CONFIG', 'GET', name);
  const settings = new Map<string, string>();
  for (const [error, reply] of (await pipeline.exec()) ?? []) {
    // Error replies (`NOPERM`, `unknown command`) mean that CONFIG is not permitted.
    if (error && error.name !== 'ReplyError') throw error;
    for (const [name, value] of toPairs(reply)) settings.set(name, value);
  }
  const of = (name: (typeof settingNames)[number], field?: string) => settings.get(name) ?? (field && info.get(field));
  const appendOnly = settings.get('appendonly') ?? { '1': 'yes', '0': 'no' }[info.get('aof_enabled') ?? ''];
  const unsynced = settings.get('no-appendfsync-on-rewrite');
  return withoutUndefined({
    version: info.get('redis_version'),
    appendOnly: appendOnly === undefined ? undefined : appendOnly === 'yes',
    fsync: of('appendfsync'),
    unsyncedRewrite: unsynced === undefined ? undefined : unsynced === 'yes',
    evictionPolicy: of('maxmemory-policy', 'maxmemory_policy'),
    maxMemoryBytes: toNumber(of('maxmemory', 'maxmemory')),
    minReplicasToWrite: toNumber(of('min-replicas-to-write')),
  });
}

/** Parses `INFO memory`. Replica and append-only buffers do not count toward the limit, as in Redis itself. */
export function parseMemory(infoText: string): RedisMemory {
  const info = parseInfo(infoText);
  const used = (toNumber(info.get('used_memory')) ?? 0) - (toNumber(info.get('mem_not_counted_for_evict')) ?? 0);
  return { usedBytes: Math.max(0, used), maxBytes: toNumber(info.get('maxmemory')) ?? 0 };
}

/** The lines `field:value` of an INFO reply. */
export function parseInfo(text: string): ReadonlyMap<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.includes(':') && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

function toPairs(reply: unknown): [string, string][] {
  if (!Array.isArray(reply)) return [];
  const texts = reply.map(String);
  return texts.flatMap((name, i): [string, string][] => (i % 2 === 0 ? [[name, texts[i + 1] ?? '']] : []));
}

function toNumber(text: string | undefined): number | undefined {
  const value = text === undefined || text === '' ? NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const withoutUndefined = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>; // undefined fields are removed, as in Defined
