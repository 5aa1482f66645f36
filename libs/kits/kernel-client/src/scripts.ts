import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';

type Argument = string | number;
export type RunScript = (...args: Argument[]) => Promise<unknown>;

/**
 * Registers `scripts/<file>.lua` as a command of the connection; the number at the end of the name is its number of keys.
 * The one place that reaches past ioredis' types.
 */
export function loadScript(redis: Redis, file: 'velocity-2' | 'breaker-1'): RunScript {
  const [command = file, numberOfKeys] = file.split('-');
  const lua = readFileSync(join(__dirname, 'scripts', `${file}.lua`), 'utf8');
  redis.defineCommand(command, { lua, numberOfKeys: Number(numberOfKeys) });
  const commands = redis as unknown as Record<string, RunScript>;
  return (...args) => {
    const run = commands[command];
    if (!run) throw new Error(`script ${command} is not registered`);
    return run.apply(redis, args);
  };
}
