import { findKeyName } from '@svc/store';
import type { Frame } from './frames';

export type Mode = 'before' | 'after';

/** Point of a crash: the k-th operation (from 1), before the server receives it or before the service gets the response. */
export interface CrashPoint {
  k: number;
  mode: Mode;
}

/**
 * Counts the store and bus operations of one service in one sequence, and decides at which of them the service is killed.
 * Counts only between `arm` and `disarm`.
 */
export class Operations {
  private names: string[] = [];
  private readonly background = new Set<string>();
  private counting: 'no' | 'idle' | 'yes' = 'no';
  private point: CrashPoint | undefined;
  private died: Promise<string> | undefined;
  private resolveDeath: (name: string) => void = () => undefined;

  /** @param kill ends the service immediately, as SIGKILL does */
  constructor(private readonly kill: () => void) {}

  /** Operations from now until `disarm` are those of an idle service; they are not counted later. */
  learnBackground(): void {
    this.counting = 'idle';
  }

  /** Starts counting; with a point, the service is killed there. */
  arm(point?: CrashPoint): void {
    this.names = [];
    this.counting = 'yes';
    this.point = point;
    this.died = new Promise((resolve) => (this.resolveDeath = resolve));
  }

  /** @returns the names of the counted operations, in order */
  disarm(): string[] {
    this.counting = 'no';
    this.point = undefined;
    return this.names;
  }

  /** Resolves with the name of the operation at which the service was killed; never if it was not. */
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
    this.resolveDeath(name);
  }
}

/** An idle service fetches work too, and such a call may return some. */
const isTakingWork = (name: string) => /^EVALSHA \{s0\}:\S+:wait /.test(name);

/** Handshakes and waiting for work: not counted, since their number depends on time. */
const unnoted = new Set(
  'HELLO CLIENT INFO AUTH SELECT PING SUBSCRIBE PSUBSCRIBE QUIT SCRIPT FUNCTION BZPOPMIN XREAD BRPOPLPUSH ECHO COMMAND'.split(
    ' ',
  ),
);

/** Name of a Redis command in a crash point; undefined for commands that are not counted. */
export function redisOperation({ verb, args }: Frame): string | undefined {
  if (unnoted.has(verb)) return undefined;
  const [first = '', , third = ''] = args;
  const isScript = verb === 'EVALSHA' || verb === 'EVAL';
  // The first use of a script sends its text; it is the same operation as later uses by hash.
  if (isScript) return `EVALSHA ${keyName(third)} ${verb === 'EVAL' ? 'text' : first.slice(0, 6)}`;
  if (verb === 'FCALL') return `FCALL ${keyName(third)}`;
  return `${verb} ${keyName(first)}`;
}

/** Removes ids, which differ in every run. */
function keyName(key: string): string {
  const row = findKeyName(key);
  if (row === undefined) return key;
  if (row !== 'queue') return row;
  const [tag = '', queue = '', part = ''] = key.split(':');
  return [tag, queue, /^[a-z-]+$/.test(part) ? part : '<entry>'].join(':');
}

/** Name of a publish in a crash point; undefined for other protocol messages. */
export function natsOperation({ verb, args }: Frame): string | undefined {
  if (verb !== 'PUB' && verb !== 'HPUB') return undefined;
  const [subject = ''] = args;
  // Pull requests and stream queries: their number depends on time.
  if (subject.startsWith('$JS.API.')) return undefined;
  if (subject.startsWith('$JS.ACK.')) return `ACK ${subject.split('.')[3] ?? ''}`;
  return `PUB ${subject.replace(/^_INBOX\..*/, '_INBOX')}`;
}
