import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';

type Argument = string | number;
export type RunScript = (...args: Argument[]) => Promise<unknown>;

/**
 * Registers `kernel-scripts/<file>.lua` as a command of the connection; the number at the end of the name is its number of keys.
 * The one place that reaches past ioredis' types.
 */
export function loadScript(redis: Redis, file: 'breaker-1'): RunScript {
  const [command = file, numberOfKeys] = file.split('-');
  const lua = readFileSync(join(__dirname, 'kernel-scripts', `${file}.lua`), 'utf8');
  redis.defineCommand(command, { lua, numberOfKeys: Number(numberOfKeys) });
  const commands = redis as unknown as Record<string, RunScript>;
  return (...args) => {
    const run = commands[command];
    if (!run) throw new Error(`script ${command} is not registered`);
    return run.apply(redis, args);
  };
}

/** Keys and arguments of one request of a script that takes many. */
interface Request {
  keys: readonly string[];
  args: readonly Argument[];
}

interface WaitingRequest extends Request {
  resolve(reply: number): void;
  reject(error: unknown): void;
}

/** Bounds the time for which one call blocks Redis. */
const MAX_REQUESTS = 64;

/**
 * Registers `kernel-scripts/<file>.lua`, which takes many requests and returns a list with a number for each, or the text of its
 * error. Requests of one turn of the event loop share a call: most of the time of a small script is the call itself.
 */
export function loadBatchedScript(redis: Redis, file: 'velocity'): (request: Request) => Promise<number> {
  redis.defineCommand(file, { lua: readFileSync(join(__dirname, 'kernel-scripts', `${file}.lua`), 'utf8') });
  const commands = redis as unknown as Record<string, RunScript | undefined>;
  let waiting: WaitingRequest[] = [];
  const send = async (requests: readonly WaitingRequest[]) => {
    try {
      const keys = requests.flatMap((request) => request.keys);
      const args = requests.flatMap((request) => request.args);
      const replies = (await commands[file]?.call(redis, keys.length, ...keys, ...args)) as unknown[];
      for (const [i, request] of requests.entries()) {
        const reply = replies[i];
        if (typeof reply === 'number') request.resolve(reply);
        else request.reject(new Error(String(reply)));
      }
    } catch (error) {
      for (const request of requests) request.reject(error);
    }
  };
  const sendAll = () => {
    const all = waiting;
    waiting = [];
    for (let i = 0; i < all.length; i += MAX_REQUESTS) void send(all.slice(i, i + MAX_REQUESTS));
  };
  return (request) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ ...request, resolve, reject }) === 1) setImmediate(sendAll);
    });
}
