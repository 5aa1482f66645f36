import { keyNameOf } from '@svc/store';
import type { Frame } from './frames';

export type Mode = 'before' | 'after';

/** Where a service dies: at its k-th operation (from 1), before the server gets it, or before it gets the answer. */
export interface CrashPoint {
  k: number;
  mode: Mode;
}

/**
 * Counts the store and bus operations of one service, both together in the order it makes them, and says at which of them
 * it dies. It counts only between `arm` and `disarm`.
 */
export class Operations {
  private names: string[] = [];
  private readonly background = new Set<string>();
  private counting: 'no' | 'idle' | 'yes' = 'no';
  private point: CrashPoint | undefined;
  private died: Promise<string> | undefined;
  private tellDeath: (name: string) => void = () => undefined;

  /** @param kill ends the service at once, as by SIGKILL */
  constructor(private readonly kill: () => void) {}

  /** What is done from now until `disarm` is done by an idle service too, and is not counted later. */
  learnBackground(): void {
    this.counting = 'idle';
  }

  /** Counts from now on; with a point, the service dies there. */
  arm(point?: CrashPoint): void {
    this.names = [];
    this.counting = 'yes';
    this.point = point;
    this.died = new Promise((resolve) => (this.tellDeath = resolve));
  }

  /** @returns the names of what was counted, in order */
  disarm(): string[] {
    this.counting = 'no';
    this.point = undefined;
    return this.names;
  }

  /** Resolves with the name of the operation at which the service died; never, when it did not come to that. */
  get death(): Promise<string> {
    return this.died ?? new Promise(() => undefined);
  }

  /** Called for each operation before it is forwarded. */
  note(name: string): 'pass' | Mode {
    if (this.counting === 'idle') this.background.add(name);
    if (this.counting !== 'yes' || (this.background.has(name) && !isTakingWork(name))) return 'pass';
    this.names.push(name);
    return this.point?.k === this.names.length ? this.point.mode : 'pass';
  }

  /** The point is reached. */
  die(name: string): void {
    this.kill();
    this.disarm();
    this.tellDeath(name);
  }
}

/** An idle service asks for work too, and at this very call it may get some. */
const isTakingWork = (name: string) => /^EVALSHA \{s0\}:\S+:wait /.test(name);

/** Handshakes, and waiting for work: uncounted, since how often they come depends on time. */
const unnoted = new Set(
  'HELLO CLIENT INFO AUTH SELECT PING SUBSCRIBE PSUBSCRIBE QUIT SCRIPT FUNCTION BZPOPMIN XREAD BRPOPLPUSH ECHO COMMAND'.split(
    ' ',
  ),
);

/** What a Redis command is called in a crash point; undefined for those that are not counted. */
export function redisOperation({ verb, args }: Frame): string | undefined {
  if (unnoted.has(verb)) return undefined;
  const [first = '', , third = ''] = args;
  const isScript = verb === 'EVALSHA' || verb === 'EVAL';
  // The first use of a script carries its text; it is the same operation as later uses by hash.
  if (isScript) return `EVALSHA ${keyName(third)} ${verb === 'EVAL' ? 'text' : first.slice(0, 6)}`;
  if (verb === 'FCALL') return `FCALL ${keyName(third)}`;
  return `${verb} ${keyName(first)}`;
}

/** Ids would make every run's names different. */
function keyName(key: string): string {
  const row = keyNameOf(key);
  if (row === undefined) return key;
  if (row !== 'queue') return row;
  const [tag = '', queue = '', part = ''] = key.split(':');
  return [tag, queue, /^[a-z-]+$/.test(part) ? part : '<entry>'].join(':');
}

/** What a publish is called in a crash point; undefined for what else a client of the bus says. */
export function natsOperation({ verb, args }: Frame): string | undefined {
  if (verb !== 'PUB' && verb !== 'HPUB') return undefined;
  const [subject = ''] = args;
  // Asking for messages and about streams: how often depends on time.
  if (subject.startsWith('$JS.API.')) return undefined;
  if (subject.startsWith('$JS.ACK.')) return `ACK ${subject.split('.')[3] ?? ''}`;
  return `PUB ${subject.replace(/^_INBOX\..*/, '_INBOX')}`;
}
