import { stat } from 'node:fs/promises';

export interface WatchHooks {
  /** They changed and stand still again. */
  onChange(): Promise<void>;
  /** They have been changing for many looks on end. Told once each time. */
  onRestless(): void;
}

export interface FileWatch {
  /** Stamp of the files as they last stood still. */
  settled(): string;
  start(hooks: WatchHooks): void;
  stop(): void;
}

/** A file that is not replaced but written over is torn for a moment, and half of a policy may well be a policy. */
const mostSettleMs = 100;
const restlessLooks = 50;

/**
 * Looks at files every so often and says when they changed, by time, size and inode, once two looks see the same. A file that
 * is gone for a moment, as while it is replaced, counts as changed. The timers do not keep the process alive.
 *
 * @param seen the stamp they had before they were first read
 */
export function watchFiles(paths: readonly string[], everyMs: number, seen: string): FileWatch {
  let settled = seen;
  let last = seen;
  let restless = 0;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  return {
    settled: () => settled,
    start: lookSoon,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };

  function lookSoon(hooks: WatchHooks): void {
    if (isStopped) return;
    const afterMs = last === settled ? everyMs : Math.min(everyMs, mostSettleMs);
    timer = setTimeout(() => void look(hooks).finally(() => lookSoon(hooks)), afterMs).unref();
  }

  async function look(hooks: WatchHooks): Promise<void> {
    const now = await stampOf(paths);
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
 * Reads files again only when they changed and stood still since, whatever it is that has them asked for; between that, what
 * was read last is answered again.
 *
 * @param now the stamp they have at this moment
 */
export function whenSettled<T extends { ok: boolean }>(
  watch: Pick<FileWatch, 'settled'>,
  now: () => Promise<string>,
  read: () => Promise<T>,
): () => Promise<T> {
  let known: { stamp: string; value: T } | undefined;
  return async () => {
    const stamp = watch.settled();
    // One that could not be read may be readable without a change of its own, as when it was for want of memory.
    if (known?.stamp === stamp && known.value.ok) return known.value;
    const value = await read();
    // Written to while it was read: it may be torn. The watch will see that too, and have it read again.
    if (known && (await now()) !== stamp) return known.value;
    known = { stamp, value };
    return value;
  };
}

/** Changes whenever one of the files does. Take it before reading them, or a change meanwhile is missed. */
export async function stampOf(paths: readonly string[]): Promise<string> {
  const stamps = await Promise.all(
    paths.map((path) => stat(path).then(({ mtimeMs, size, ino }) => `${mtimeMs}:${size}:${ino}`, () => 'gone')), // prettier-ignore
  );
  return stamps.join();
}
