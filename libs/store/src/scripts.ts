import { inFlightStates, terminalStates } from '@svc/lifecycle';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChainableCommander, Redis } from 'ioredis';
import { luaKeys } from './keys';

/** Scripts of this library by command name; each takes its keys, then its arguments, and answers words. */
export type ScriptName =
  | 'accept'
  | 'admit'
  | 'carried'
  | 'claim'
  | 'freeStray'
  | 'joinLive'
  | 'move'
  | 'note'
  | 'recarry'
  | 'removeSchema'
  | 'replaceConfig'
  | 'writeSchema'
  | 'intentDone'
  | 'removeDeadLetter'
  | 'lease';

const luaList = (values: readonly string[]) => `{ ${values.map((v) => `'${v}'`).join(', ')} }`;

/**
 * Registers every `scripts/<name>-<number of keys>.lua` as a command. `-- @include a b` takes in `include/a.lua` and
 * `include/b.lua`; before them stand the tables that TypeScript declares: keys, queues, state classes.
 *
 * @param luaQueues the queue table in Lua, from `luaQueues(queues)` of @svc/queues
 */
export function loadScripts(redis: Redis, luaQueues: string, dir = join(__dirname, 'scripts')): void {
  const prelude = [
    luaKeys(),
    luaQueues,
    `local TERMINAL = ${luaList(terminalStates)}`,
    `local IN_FLIGHT = ${luaList(inFlightStates)}`,
  ].join('\n');
  const include = (name: string) => readFileSync(join(dir, 'include', `${name}.lua`), 'utf8');
  for (const file of readdirSync(dir).filter((f) => f.endsWith('.lua'))) {
    const [name, numberOfKeys] = file.replace('.lua', '').split('-') as [string, string];
    const source = readFileSync(join(dir, file), 'utf8');
    const lua = source.replace(/^-- @include (.+)$/m, (_, names: string) =>
      [prelude, ...names.split(' ').map(include)].join('\n'),
    );
    redis.defineCommand(name, { lua, numberOfKeys: Number(numberOfKeys) });
  }
}

type Argument = string | number;

/** Runs a script on a connection or queues it on a pipeline. The one place that reaches past ioredis' types. */
export function runScript(redis: Redis, name: ScriptName, ...args: Argument[]): Promise<unknown> {
  const commands = redis as unknown as Record<ScriptName, (...args: Argument[]) => Promise<unknown>>;
  return commands[name](...args);
}

export function queueScript(pipeline: ChainableCommander, name: ScriptName, ...args: Argument[]): void {
  const commands = pipeline as unknown as Record<ScriptName, (...args: Argument[]) => unknown>;
  commands[name](...args);
}
