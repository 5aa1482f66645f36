import { stat } from 'node:fs/promises';

/**
 * Looks at files every so often and says when one changed, by time, size and inode. A file that is gone for a moment, as
 * while it is replaced, counts as changed. The timer does not keep the process alive.
 *
 * @returns ends the looking
 */
export function watchFiles(
  paths: readonly string[],
  everyMs: number,
  seen: string,
  onChange: () => Promise<void>,
): () => void {
  let last = seen;
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    void look().finally(() => {
      busy = false;
    });
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);

  async function look(): Promise<void> {
    const now = await stampOf(paths);
    if (now === last) return;
    last = now;
    await onChange();
  }
}

/** Changes whenever one of the files does. Take it before reading them, or a change meanwhile is missed. */
export async function stampOf(paths: readonly string[]): Promise<string> {
  const stamps = await Promise.all(
    paths.map((path) => stat(path).then(({ mtimeMs, size, ino }) => `${mtimeMs}:${size}:${ino}`, () => 'gone')), // prettier-ignore
  );
  return stamps.join();
}
