import { createHash } from 'node:crypto';
import { defaultShard } from '@svc/queues';
import type { Redis } from 'ioredis';

/** A library with one Redis function, both named by a hash of their code. */
export interface ScriptLibrary {
  shard: string;
  name: string;
  code: string;
}

/** Each shard of a server has libraries of its own, since the code contains the names of keys. */
const buildPrefix = (shard: string) => (shard === defaultShard ? 'svc_' : `svc_${shard}_`);

/**
 * Builds a library named by its code, so that services of two versions can run in parallel.
 *
 * @param declarations Lua that runs once, when the library is loaded
 * @param body of the function, with the call's KEYS and ARGV
 */
export function buildLibrary(shard: string, declarations: string, body: string): ScriptLibrary {
  const hash = createHash('sha256').update(declarations).update(body).digest('hex').slice(0, 16);
  const name = `${buildPrefix(shard)}${hash}`;
  const code = `#!lua name=${name}\n${declarations}\nredis.register_function('${name}', function(KEYS, ARGV)\n${body}\nend)`;
  return { shard, name, code };
}

/** The function is not loaded: the store is new, was emptied, or another version removed the library. */
export const isUnknownFunction = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('Function not found');

/**
 * Loads a library, and deletes those of other versions of the same shard. A process that still uses one of them reloads it on its next call.
 *
 * @throws Error if Redis rejects it, as versions before 7 do
 */
export async function loadLibrary(redis: Redis, { shard, name, code }: ScriptLibrary): Promise<void> {
  await redis.function('LOAD', 'REPLACE', code);
  const prefix = buildPrefix(shard);
  const loaded = (await redis.function('LIST', 'LIBRARYNAME', `${prefix}*`)) as unknown[][];
  // The prefix of the first shard is also that of the others.
  const isOfShard = (other: string) => /^[0-9a-f]{16}$/.test(other.slice(prefix.length));
  const others = loaded.map((fields) => String(fields[1])).filter((other) => other !== name && isOfShard(other));
  // Another process may delete them concurrently.
  await Promise.all(others.map((other) => redis.function('DELETE', other).catch(() => undefined)));
}
