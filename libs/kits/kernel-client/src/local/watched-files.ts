import { stat } from 'node:fs/promises';

export interface WatchHooks {
  /** The files changed and are stable again. */
  onChange(): Promise<void>;
  /** The files kept changing over many checks. Called once per episode. */
  onRestless(): void;
}

export interface FileWatch {
  /** Stamp of the last stable state. */
  settled(): string;
  start(hooks: WatchHooks): void;
  stop(): void;
}

/** A file that is overwritten in place is briefly incomplete, and half of a policy may be a valid policy. */
const MAX_SETTLE_MS = 100;
const restlessLooks = 50;

/**
 * Polls files and reports a change of time, size or inode once two checks agree. A file that is briefly missing, as while
 * it is replaced, counts as changed. The timers do not keep the process alive.
 *
 * @param seen the stamp before the first read
 */
export function watchFiles(paths: readonly string[], everyMs: number, seen: string): FileWatch {
  let settled = seen;
  let last = seen;
  let restless = 0;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  return {
    settled: () => settled,
    start: scheduleCheck,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };

  function scheduleCheck(hooks: WatchHooks): void {
    if (isStopped) return;
    const afterMs = last === settled ? everyMs : Math.min(everyMs, MAX_SETTLE_MS);
    timer = setTimeout(() => void checkFiles(hooks).finally(() => scheduleCheck(hooks)), afterMs).unref();
  }

  async function checkFiles(hooks: WatchHooks): Promise<void> {
    const now = await readStamp(paths);
    const isSame = now === last;
    last = now;
    restless = isSame ? 0 : restless + 1;
    if (restless === restlessLooks) hooks.onRestless();
    if (!isSame || now === settled) return;
    settled = now;
    await hooks.onChange();
  }
}

/**
 * Rereads files only after they changed and are stable; otherwise returns the last result.
 *
 * @param now the current stamp
 */
export function whenSettled<T extends { ok: boolean }>(
  watch: Pick<FileWatch, 'settled'>,
  now: () => Promise<string>,
  read: () => Promise<T>,
): () => Promise<T> {
  let known: { stamp: string; value: T } | undefined;
  return async () => {
    const stamp = watch.settled();
    // A failed read may succeed later without a change of the file.
    if (known?.stamp === stamp && known.value.ok) return known.value;
    const value = await read();
    // Changed during the read, so it may be incomplete. The watch sees the change and triggers another read.
    if (known && (await now()) !== stamp) return known.value;
    known = { stamp, value };
    return value;
  };
}

/** Changes with any of the files. Take it before reading, otherwise a concurrent change is missed. */
export async function readStamp(paths: readonly string[]): Promise<string> {
  const stamps = await Promise.all(
    paths.map((path) => stat(path).then(({ mtimeMs, size, ino }) => `${mtimeMs}:${size}:${ino}`, () => 'gone')), // prettier-ignore
  );
  return stamps.join();
}
