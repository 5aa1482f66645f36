import { effectStates, inFlightStates, isTerminal, jobStates, terminalStates } from '@svc/lifecycle';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { luaQueues, type AnyQueueSpec } from '@svc/queues';
import { findAct } from './audit-scope';
import { changeFields, endingFields } from './job.record';
import { luaKeys } from './keys';
import { ScriptBatches, type Argument, type FollowUp } from './script-batches';
import { buildLibrary } from './script-library';
import type { ScriptName } from './script-name';
import { scopeIncludes } from './script-scopes';

/** A transition table in Lua: `{ event = { from = { ... }, to = '...' } }`. */
const luaMoves = (moves: Readonly<Record<string, { from: readonly string[]; to: string }>>) =>
  `{ ${Object.entries(moves)
    .map(([event, { from, to }]) => `${event} = { from = ${luaList(from)}, to = '${to}' }`)
    .join(', ')} }`;
const luaList = (values: readonly string[]) => `{ ${values.map((v) => `'${v}'`).join(', ')} }`;

/** In dependency order. */
const includes = [
  'base',
  'holds',
  'pools',
  'tenants',
  'locks',
  'bull',
  'lanes',
  'inbox',
  'tree',
  'spend',
  'memory',
  'limits',
  'effects',
  'agents',
  'job',
  'dispatch',
  'placement',
  'strategies',
  'accept',
  'run',
  'trust',
  'api-keys',
  'schedule',
  'evals',
];

interface LoadedScripts {
  shard: string;
  batches: ScriptBatches;
}

const loaded = new WeakMap<Redis, LoadedScripts>();

/**
 * Combines every `scripts/<name>-<number of keys>.lua` into one Redis function, which executes batches of concurrent calls.
 * Redis builds the function's tables once, on load; a script would build them on each call. The declarations of TypeScript
 * (keys, queues, state classes) and the includes precede the scripts. ADR 0006.
 *
 * @throws Error if the connection has the scripts of another shard
 */
export function loadScripts(
  redis: Redis,
  shard: string,
  queues: Readonly<Record<string, AnyQueueSpec>>,
  dir = join(__dirname, 'scripts'),
): void {
  const other = loaded.get(redis)?.shard;
  if (other !== undefined && other !== shard) throw new Error(`this connection serves the shard ${other}`);
  const read = (file: string) => readFileSync(join(dir, file), 'utf8');
  const scripts = readdirSync(dir)
    .filter((file) => /-\d\.lua$/.test(file))
    .map((file) => {
      const [name = '', numberOfKeys] = file.replace('.lua', '').split('-');
      return { name, numberOfKeys: Number(numberOfKeys), body: read(file) };
    });
  const batch = read('include/batch.lua');
  const library = buildLibrary(
    shard,
    [
      luaKeys(shard),
      luaQueues(queues, shard),
      `local TERMINAL = ${luaList(terminalStates)}`,
      `local OPEN = ${luaList(jobStates.states.filter((state) => !isTerminal(state)))}`,
      `local IN_FLIGHT = ${luaList(inFlightStates)}`,
      `local EFFECT_MOVES = ${luaMoves(effectStates.moves)}`,
      `local ENDING_FIELDS = ${luaList(endingFields)}`,
      `local CHANGE_FIELDS = ${luaList(changeFields)}`,
      ...scopeIncludes(
        includes.map((name) => read(`include/${name}.lua`)),
        [...scripts.map(({ body }) => body), batch],
      ),
      'local scripts = {}',
      ...scripts.map(({ name, body }) => `scripts.${name} = function(KEYS, ARGV)\n${body}\nend`),
    ].join('\n'),
    batch,
  );
  const keyCounts = new Map(scripts.map(({ name, numberOfKeys }) => [name, numberOfKeys]));
  loaded.set(redis, { shard, batches: new ScriptBatches(redis, library, keyCounts) });
}

/**
 * Runs a script, batched with concurrent calls.
 *
 * @throws Error with the text of Redis; only the failed call of a batch rejects
 */
export function runScript(redis: Redis, name: ScriptName, ...args: Argument[]): Promise<unknown> {
  return runScriptWith(redis, undefined, name, ...args);
}

/** The same, with a call that runs at the end of the same batch. */
export function runScriptWith(
  redis: Redis,
  followUp: FollowUp | undefined,
  name: ScriptName,
  ...args: Argument[]
): Promise<unknown> {
  const batches = getBatches(redis);
  const act = findAct(name);
  if (!act) return batches.run(name, args, followUp);
  const { opened, when } = act;
  const recording = batches.toCall('recordAct', [opened.tenant, JSON.stringify(opened.act), ...when]);
  return batches.run(name, args, followUp, recording).then((reply) => {
    // Repeated on failure: the act is recorded once, with the call that made the change.
    if (Array.isArray(reply) && when.includes(String(reply[0]))) opened.isRecorded = true;
    return reply;
  });
}

/** The same for a call without urgency: it may be delayed by 25 ms, so that many of them share one call of Redis. */
export function runScriptSoon(redis: Redis, name: ScriptName, ...args: Argument[]): Promise<unknown> {
  return getBatches(redis).runSoon(name, args);
}

/** @throws Error when the connection was not opened with `openStore` */
function getBatches(redis: Redis): ScriptBatches {
  const scripts = loaded.get(redis);
  if (!scripts) throw new Error('this connection has no scripts: open it with openStore');
  return scripts.batches;
}
