import type { Redis } from 'ioredis';
import { keys, type Keys } from './keys';
import { parseJson, parseRun, type JsonObject, type LoadedRun } from './run.record';

/** A run with new events, as the script that woke it reports it. */
export interface RunWake {
  id: string;
  revision: number;
  /** Redis' clock, µs. */
  atUs: number;
  /** The first events of its inbox; absent when they are large. */
  events?: JsonObject[];
  /** The run, if no engine has it in memory and it is not large. */
  loaded?: LoadedRun;
}

interface WakeMessage {
  id: string;
  revision: number;
  at: string;
  events?: string[];
  /** Lists of field and value. */
  run?: { fields: string[]; steps: string[] };
}

/** Notifies an engine of woken runs. A lost message delays a run until its queue entry is due. */
export class RunWakes {
  /**
   * @param listener a dedicated connection with automatic resubscription disabled
   * @param engine unique among running engines
   * @param shardKeys of the shard; default: the first
   */
  constructor(
    private readonly redis: Redis,
    private readonly listener: Redis,
    private readonly engine: string,
    onWake: (wake: RunWake) => void,
    private readonly shardKeys: Pick<Keys, 'runWakes' | 'runEngines'> = keys,
  ) {
    // Published by the scripts only.
    listener.on('message', (_channel, text: string) => onWake(parseWake(text)));
    // The client's automatic resubscription causes an unhandled rejection when the connection is closed during it.
    listener.on('ready', () => void this.open().catch(() => undefined));
  }

  /** Subscribes. After a reconnect it subscribes again. */
  async open(): Promise<void> {
    await this.listener.subscribe(this.shardKeys.runWakes(this.engine));
  }

  /** Lists this engine as one that takes new runs. Repeated, since scripts remove an engine that misses a message. */
  async announce(): Promise<void> {
    if (this.listener.status === 'ready') await this.redis.sadd(this.shardKeys.runEngines(), this.engine);
  }

  async close(): Promise<void> {
    this.listener.disconnect();
    await this.redis.srem(this.shardKeys.runEngines(), this.engine);
  }
}

function parseWake(text: string): RunWake {
  const { id, revision, at, events, run: stored } = JSON.parse(text) as WakeMessage;
  const run = stored && parseRun(Object.fromEntries(toPairs(stored.fields)));
  return {
    id,
    revision,
    atUs: Number(at),
    ...(events && { events: events.map(parseJson) }),
    ...(run && {
      loaded: { run, steps: new Map(toPairs(stored.steps).map(([path, step]) => [path, parseJson(step)])) },
    }),
  };
}

/** An empty list is encoded as `{}`. */
const toPairs = (list: string[]): [string, string][] =>
  Array.from({ length: Math.floor((list.length || 0) / 2) }, (_, i) => [list[2 * i] ?? '', list[2 * i + 1] ?? '']);
