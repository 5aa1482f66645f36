import { readFileSync, statSync } from 'node:fs';

export interface WatchedFile<T> {
  /** The file's content as last understood. */
  current(): T;
}

export interface WatchOptions<T> {
  path: string;
  parse(text: string): T;
  /** Told when a changed file could not be read or understood; the previous content stays in force. */
  onProblem(problem: Error): void;
  /** Shortest time between two looks at the file. */
  everyMs: number;
  nowMs(): number;
}

/**
 * A file that is read again once its modification time, size or inode changes. There is no timer: the file is looked at when
 * its content is asked for, so a change holds from the next request on.
 *
 * @throws what `parse` throws, or the file system's error, when the first reading fails
 */
export function watchFile<T>({ path, parse, onProblem, everyMs, nowMs }: WatchOptions<T>): WatchedFile<T> {
  const mark = (): string => {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats ? `${stats.mtimeNs}:${stats.size}:${stats.ino}` : 'missing';
  };
  let seen = mark();
  let content = parse(readFileSync(path, 'utf8'));
  let lookedAtMs = nowMs();

  const look = () => {
    const now = mark();
    if (now === seen) return;
    seen = now;
    try {
      content = parse(readFileSync(path, 'utf8'));
    } catch (cause) {
      onProblem(new Error(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause }));
    }
  };

  return {
    current() {
      const now = nowMs();
      if (now - lookedAtMs >= everyMs) {
        lookedAtMs = now;
        look();
      }
      return content;
    },
  };
}
