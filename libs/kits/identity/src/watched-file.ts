import { readFileSync, statSync } from 'node:fs';

export interface WatchedFile<T> {
  /** Last content that was parsed successfully. */
  current(): T;
}

export interface WatchOptions<T> {
  path: string;
  parse(text: string): T;
  /** Called when a changed file cannot be read or parsed; the previous content stays in effect. */
  onProblem(problem: Error): void;
  /** Called after changed content came into effect. */
  onChanged?(): void;
  /** Minimum interval between two checks of the file. */
  everyMs: number;
  nowMs(): number;
}

/**
 * A file that is read again when its modification time, size or inode changes. There is no timer: the file is checked when its
 * content is requested, so a change takes effect with the next request.
 *
 * @throws the error of `parse` or of the file system when the first read fails
 */
export function watchFile<T>({ path, parse, onProblem, onChanged, everyMs, nowMs }: WatchOptions<T>): WatchedFile<T> {
  const fingerprint = (): string => {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats ? `${stats.mtimeNs}:${stats.size}:${stats.ino}` : 'missing';
  };
  let lastFingerprint = fingerprint();
  let content = parse(readFileSync(path, 'utf8'));
  let checkedAtMs = nowMs();

  const reloadIfChanged = () => {
    const now = fingerprint();
    if (now === lastFingerprint) return;
    lastFingerprint = now;
    try {
      content = parse(readFileSync(path, 'utf8'));
    } catch (cause) {
      return onProblem(new Error(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause }));
    }
    onChanged?.();
  };

  return {
    current() {
      const now = nowMs();
      if (now - checkedAtMs >= everyMs) {
        checkedAtMs = now;
        reloadIfChanged();
      }
      return content;
    },
  };
}
