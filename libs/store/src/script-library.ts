import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A library of Redis functions with one function in it, both under a name made of their text. */
export interface ScriptLibrary {
  name: string;
  code: string;
}

const prefix = 'svc_';

/**
 * Named by its text, services of two versions may run side by side, each with its own.
 *
 * @param declarations Lua that runs once, when the library is loaded
 * @param body of the function, in which KEYS and ARGV are what it is called with
 */
export function libraryOf(declarations: string, body: string): ScriptLibrary {
  const hash = createHash('sha256').update(declarations).update(body).digest('hex').slice(0, 16);
  const name = `${prefix}${hash}`;
  const code = `#!lua name=${name}\n${declarations}\nredis.register_function('${name}', function(KEYS, ARGV)\n${body}\nend)`;
  return { name, code };
}

/** The store has not, or not any more, what a process calls: it is new, was emptied, or another version tidied up. */
export const isUnknownFunction = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('Function not found');

/**
 * Loads a library, and drops those of other versions. A process that still runs one of those loads it again when it finds
 * it gone.
 *
 * @throws Error when Redis refuses it, as those before version 7 do
 */
export async function loadLibrary(redis: Redis, { name, code }: ScriptLibrary): Promise<void> {
  await redis.function('LOAD', 'REPLACE', code);
  const loaded = (await redis.function('LIST', 'LIBRARYNAME', `${prefix}*`)) as unknown[][];
  const others = loaded.map((fields) => String(fields[1])).filter((other) => other !== name);
  // Another process may be doing the same.
  await Promise.all(others.map((other) => redis.function('DELETE', other).catch(() => undefined)));
}
