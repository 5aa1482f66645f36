import { unwatchFile, watchFile } from 'node:fs';

const POLL_MS = 200;
/** nats-server 2.9 forwards what an account publishes only from the first reload after the one that added the account. */
const SECOND_RELOAD_MS = 250;

/**
 * Sends SIGHUP, on which nats-server reloads its configuration, when a file changes or is replaced. Polls, since
 * notifications of the file system do not cross the volumes of containers.
 *
 * @param pid of the server; undefined while it does not run: it reads the file when it starts
 * @returns a function that ends the polling
 */
export function reloadOnChange(file: string, pid: () => number | undefined): () => void {
  let timer: NodeJS.Timeout | undefined;
  const reload = () => {
    sendReload(pid());
    clearTimeout(timer);
    timer = setTimeout(() => sendReload(pid()), SECOND_RELOAD_MS);
  };
  watchFile(file, { interval: POLL_MS, persistent: false }, reload);
  return () => {
    unwatchFile(file, reload);
    clearTimeout(timer);
  };
}

function sendReload(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, 'SIGHUP');
  } catch {
    // It ended a moment ago.
  }
}
