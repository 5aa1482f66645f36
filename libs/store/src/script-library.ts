import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A library with one Redis function, both named by a hash of their code. */
export interface ScriptLibrary {
  name: string;
  code: string;
}

const prefix = 'svc_';

/**
 * Builds a library named by its code, so that services of two versions can run in parallel.
 *
 * @param declarations Lua that runs once, when the library is loaded
 * @param body of the function, with the call's KEYS and ARGV
 */
export function buildLibrary(declarations: string, body: string): ScriptLibrary {
  const hash = createHash('sha256').update(declarations).update(body).digest('hex').slice(0, 16);
  const name = `${prefix}${hash}`;
  const code = `#!lua name=${name}\n${declarations}\nredis.register_function('${name}', function(KEYS, ARGV)\n${body}\nend)`;
  return { name, code };
}

/** The function is not loaded: the store is new, was emptied, or another version removed the library. */
export const isUnknownFunction = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('Function not found');

/**
 * Loads a library, and deletes those of other versions. A process that still uses one of them reloads it on its next call.
 *
 * @throws Error if Redis rejects it, as versions before 7 do
 */
export async function loadLibrary(redis: Redis, { name, code }: ScriptLibrary): Promise<void> {
  await redis.function('LOAD', 'REPLACE', code);
  const loaded = (await redis.function('LIST', 'LIBRARYNAME', `${prefix}*`)) as unknown[][];
  const others = loaded.map((fields) => String(fields[1])).filter((other) => other !== name);
  // Another process may delete them concurrently.
  await Promise.all(others.map((other) => redis.function('DELETE', other).catch(() => undefined)));
}
